#!/usr/bin/env node
// Loads the built command. It is committed and depends on nothing, because npm links a workspace's command only where
// its file exists at install time, which is before anything is built.
import { existsSync } from "node:fs";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const main = new URL("../dist/apps/cli/main.js", import.meta.url);

if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `Tuntas needs Node 20.19 or later; this is ${process.version}. Install a newer Node and run it again.`,
  );
  process.exitCode = 1;
} else if (existsSync(main)) {
  await import(main.href);
} else {
  console.error("Tuntas is not built here. In its checkout, run: npm run build");
  process.exitCode = 1;
}

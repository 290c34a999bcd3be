import { readFileSync } from "node:fs";
import type { Command } from "../command.ts";

// lib/package.json, seen from lib/dist/apps/cli/commands and, in the tests, from apps/cli/src/commands.
const manifest = new URL(
  import.meta.url.endsWith(".ts") ? "../../../../lib/package.json" : "../../../../package.json",
  import.meta.url,
);

export const readVersion = (): string =>
  (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;

export const version: Command = {
  name: "version",
  summary: "Prints the version.",
  examples: [["tuntas version --json", "with Node's version, for a bug report"]],
  run: async () => {
    const document = {
      tuntas: readVersion(),
      node: process.versions.node,
      platform: `${process.platform}-${process.arch}`,
    };
    return { document, text: `tuntas ${document.tuntas}` };
  },
};

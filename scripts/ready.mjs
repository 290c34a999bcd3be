// Makes the checkout ready to run: packages installed, TypeScript and the console's pages built. The first act of `npm start` and
// `npm test` themselves, because npm skips pre and post scripts where `ignore-scripts` is set.
// An up-to-date checkout pays only a few file-time look-ups.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, "node_modules", ".tuntas-ready.json");

function requireNode() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  console.error(
    `Tuntas needs Node 20.19 or later; this is ${process.version}. Install a newer Node and run it again.`,
  );
  process.exit(1);
}

const lockHash = () =>
  createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");

const readStamp = () => (existsSync(stamp) ? JSON.parse(readFileSync(stamp, "utf8")) : {});

const writeStamp = (entry) => {
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, JSON.stringify({ ...readStamp(), ...entry }));
};

const pages = join("apps", "console", "src", "web");
/** The pages share these types with their server. */
const pagesContract = join("apps", "console", "src", "api");

/** Every file whose change needs a new build, as one line of path and time each. */
function* sources(folder) {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (!["node_modules", "dist", ".tuntas"].includes(entry.name)) yield* sources(path);
    } else if (
      /\.(ts|tsx|css|html|svg)$|^(tsconfig.*|package)\.json$|^vite\.config\.mjs$/.test(entry.name) &&
      !/\.test\.tsx?$/.test(entry.name)
    ) {
      yield `${path} ${statSync(join(root, path)).mtimeMs}`;
    }
  }
}

const hashOf = (lines) => createHash("sha256").update(lines.toSorted().join("\n")).digest("hex");

/** What the code and what the pages are built from. */
function sourceHashes() {
  const lines = ["lib", "apps", "aws", "examples"].flatMap((folder) => [...sources(folder)]);
  const isPages = (line) => line.startsWith(pages);
  return {
    source: hashOf(lines.filter((line) => !isPages(line))),
    pages: hashOf(lines.filter((line) => isPages(line) || line.startsWith(pagesContract))),
  };
}

function run(command, args, why) {
  console.error(why);
  execFileSync(command, args, {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
    shell: process.platform === "win32",
  });
}

function build(what, tool, ...args) {
  console.error(`Building ${what} (only after a change, ten seconds or so) ...`);
  try {
    execFileSync(process.execPath, [join(root, "node_modules", ...tool), ...args], {
      cwd: root,
      stdio: ["ignore", 2, "inherit"],
    });
  } catch {
    console.error("The build failed; the errors stand above.");
    process.exit(1);
  }
}

const buildCode = () => build("the code", ["typescript", "bin", "tsc"], "-b");

const buildPages = () =>
  build(
    "the console",
    ["vite", "bin", "vite.js"],
    "build",
    pages,
    "--config",
    join(pages, "vite.config.mjs"),
    "--logLevel",
    "warn",
  );

const isBuilt = (...path) => existsSync(join(root, "lib", "dist", ...path));

requireNode();
const before = readStamp();
const lock = lockHash();
if (before.lock !== lock) {
  run(
    "npm",
    ["ci", "--no-audit", "--no-fund", "--loglevel=error"],
    "Installing packages (once, half a minute or so) ...",
  );
  writeStamp({ lock });
}
const wanted = sourceHashes();
const isNew = before.lock !== lock;
if (isNew || before.source !== wanted.source || !isBuilt("index.js")) {
  buildCode();
  writeStamp({ source: wanted.source });
}
if (isNew || before.pages !== wanted.pages || !isBuilt("apps", "console", "web", "index.html")) {
  buildPages();
  writeStamp({ pages: wanted.pages });
}

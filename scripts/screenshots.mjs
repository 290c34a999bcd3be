// `npm run screenshots`: pictures of every page of the console, light and dark, into docs/console. They come from the
// tests' own tour, so a picture shows what the tests saw. pngquant, where it is installed, makes them small.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, "docs", "console");
mkdirSync(folder, { recursive: true });

const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
const { status } = spawnSync(process.execPath, [vitest, "run", "apps/console/src/journeys/pages.test.ts"], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, TUNTAS_PICTURES: "write" },
});

const pictures = readdirSync(folder)
  .filter((name) => name.endsWith(".png"))
  .map((name) => join(folder, name));
const quantised = spawnSync("pngquant", ["--force", "--skip-if-larger", "--ext", ".png", "128", ...pictures]);
if (quantised.error) console.error("pngquant is not installed: the pictures are larger than they need be.");
process.exit(status ?? 1);

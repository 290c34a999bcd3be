// Everything is killed, frozen and cut off in turn under load, and afterwards nothing may be lost or done twice.
//
//   npm run chaos -- [--minutes 30] [--faults 1000] [--kinds kill,freeze,…] [--cases no] [--workers 3] [--seed 1] [--postgres embedded|15]
//
// The kinds of faults stand in sim/chaos/faults.ts. It ends when both the time and the number are reached.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const option = (value) => ({ type: "string", default: value });
const { values } = parseArgs({
  options: {
    minutes: option("30"),
    faults: option("1000"),
    kinds: option("all"),
    cases: option("yes"),
    workers: option("3"),
    seed: option(String(Date.now() % 100_000)),
    postgres: option("embedded"),
  },
});
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const chosen = Object.entries(values).map(([name, value]) => [`TUNTAS_CHAOS_${name.toUpperCase()}`, value]);
const { status } = spawnSync(
  process.execPath,
  [join(root, "node_modules", "vitest", "vitest.mjs"), "run", "sim/chaos/chaos.test.ts"],
  { cwd: root, env: { ...process.env, ...Object.fromEntries(chosen) }, stdio: "inherit" },
);
process.exit(status ?? 1);

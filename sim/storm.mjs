// Streams in a storm: kills, freezes, rewinds, replays, swaps, retention and more partitions, by seed.
//
//   npm run storm -- [--seeds 1-50] [--acts 40]
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const option = (value) => ({ type: "string", default: value });
const { values } = parseArgs({ options: { seeds: option("1-50"), acts: option("40") } });
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { status } = spawnSync(
  process.execPath,
  [join(root, "node_modules", "vitest", "vitest.mjs"), "run", "sim/streams/storm.test.ts"],
  {
    cwd: root,
    env: { ...process.env, TUNTAS_STORM_SEEDS: values.seeds, TUNTAS_STORM_ACTS: values.acts },
    stdio: "inherit",
  },
);
process.exit(status ?? 1);

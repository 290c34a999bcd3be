// The kill test of case activation by command: a thousand cases unless told otherwise.
//
//   npm run crash:cases -- [--cases 1000] [--kills 200] [--workers 2] [--seed 1] [--pause 1200] [--postgres embedded|15]
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const option = (value) => ({ type: "string", default: value });
const { values } = parseArgs({
  options: {
    cases: option("1000"),
    kills: option("200"),
    workers: option("2"),
    seed: option("1"),
    pause: option("1200"),
    postgres: option("embedded"),
  },
});
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const env = {
  ...process.env,
  TUNTAS_CASES: values.cases,
  TUNTAS_KILLS: values.kills,
  TUNTAS_WORKERS: values.workers,
  TUNTAS_SEED: values.seed,
  TUNTAS_KILL_PAUSE_MS: values.pause,
  TUNTAS_POSTGRES: values.postgres,
};
const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
const { status } = spawnSync(process.execPath, [vitest, "run", "sim/cases/cases.test.ts"], {
  cwd: root,
  env,
  stdio: "inherit",
});
process.exit(status ?? 1);

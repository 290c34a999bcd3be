import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** What takes longest, longest first: begun before all others, so that no file is still running long after them. */
const longest = [
  "sim/simulation",
  "lib/src/workflow/start",
  "apps/cli/src/package",
  "apps/cli/src/cli",
  "apps/console/src/journeys/pages",
  "docs/learn/queues",
  "sim/shared-postgres",
  "apps/console/src/journeys/acts",
  "lib/src/pg/embedded/surroundings",
  "lib/src/pg/embedded/attach",
  "lib/src/workflow/worker/own/kill",
  "apps/cli/src/drill",
  "examples/demonstration/src/demonstration",
  "lib/src/service/service",
  "apps/cli/src/ledger",
  "aws/src/conformance/sqs",
  "lib/src/measure/takeover",
  "examples/orders/src/services",
  "lib/src/service/scaling",
  "apps/cli/src/watch",
  "apps/gateway/src/fuzz",
  "apps/gateway/src/sfn/fuzz",
  "docs/recipes/workflows",
  "aws/src/cdk/parity",
  "apps/cli/src/mistakes",
  "apps/gateway/src/asl-conformance",
  "lib/src/outbox/start/start",
  "apps/cli/src/service",
  "docs/recipes/backfill",
  "lib/src/batch/kill",
  "apps/cli/src/check",
  "examples/case-activation/src/readme",
  "apps/gateway/src/conformance",
  "apps/console/src/journeys/tries",
  "lib/src/workflow/approval/approval",
  "examples/orders/src/worker",
  "docs/learn/workflows",
  "sim/chaos/chaos",
  "lib/src/workflow/approval/kill",
  "lib/src/schedule/kill",
  "sim/idle",
  "docs/recipes/streams",
  "apps/cli/src/serve",
  "apps/cli/src/approval",
  "apps/gateway/src/map-runs",
  "sim/cases/cases",
].map((name) => at(`${name}.test.ts`));

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // eslint-disable-next-line unicorn/no-array-sort -- not an array's
    const sorted = await super.sort(files);
    return [
      ...longest.flatMap((path) => sorted.filter(({ moduleId }) => moduleId === path)),
      ...sorted.filter(({ moduleId }) => !longest.includes(moduleId)),
    ];
  }
}

export default defineConfig({
  resolve: {
    alias: [
      { find: /^@tuntas\/aws$/, replacement: at("aws/src/index.ts") },
      { find: /^@tuntas\/aws\/cdk$/, replacement: at("aws/src/cdk/index.ts") },
      { find: /^tuntas$/, replacement: at("lib/src/index.ts") },
      { find: /^tuntas\/(gateway|fastify|console)$/, replacement: at("apps/$1/src/index.ts") },
      { find: /^tuntas\/(.+)$/, replacement: at("lib/src/$1/index.ts") },
    ],
  },
  test: {
    sequence: { sequencer: LongestFirst },
    include: ["{lib,apps,aws,examples,sim,bench,docs}/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**", "lib/templates/**"],
    globalSetup: ["scripts/test-database.mjs"],
    env: { TUNTAS_LOG_LEVEL: "silent" },
    // Nothing here waits for long; a machine that is busy with other things makes everything take longer.
    testTimeout: process.env.CI ? 240_000 : 60_000,
    hookTimeout: process.env.CI ? 240_000 : 60_000,
    // What is looked for until it holds; a second, as it is by default, is nothing on such a machine.
    expect: { poll: { timeout: process.env.CI ? 200_000 : 50_000 } },
    // Most of a test's life is waiting: of a small machine's two processors three workers left nearly half idle.
    maxWorkers: 5,
    // A worker keeps the modules that it has loaded for its next file: loading them anew for each was a third of the
    // suite's processor time. So what a file changes in its process (environment, globals) it puts back.
    isolate: false,
    // Worlds of the simulation that live at a time, each with some thirty connections: eight take half the time of four.
    maxConcurrency: 8,
    // A machine that others use stalls now and then; what fails twice is a fault.
    retry: process.env.CI ? 1 : 0,
  },
});

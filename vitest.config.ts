import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** What takes longest, longest first: begun before all others, so that no file is still running long after them. */
const longest = [
  "sim/simulation",
  "lib/src/workflow/start",
  "sim/shared-postgres",
  "apps/console/src/journeys/pages",
  "apps/console/src/journeys/acts",
  "lib/src/service/service",
  "lib/src/pg/embedded/surroundings",
  "apps/cli/src/cli",
  "lib/src/pg/embedded/attach",
  "apps/cli/src/ledger",
  "aws/src/conformance/sqs",
  "apps/cli/src/approval",
  "sim/idle",
  "apps/gateway/src/asl-conformance",
  "examples/demonstration/src/demonstration",
  "lib/src/measure/takeover",
  "lib/src/workflow/approval/approval",
  "apps/gateway/src/map-runs",
  "apps/gateway/src/conformance",
  "sim/cases/cases",
  "docs/learn/workflows",
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
    exclude: ["**/node_modules/**", "**/dist/**"],
    globalSetup: ["scripts/test-database.mjs"],
    env: { TUNTAS_LOG_LEVEL: "silent" },
    // Nothing here waits for long; a machine that is busy with other things makes everything take longer.
    testTimeout: process.env.CI ? 240_000 : 60_000,
    hookTimeout: process.env.CI ? 240_000 : 60_000,
    // What is looked for until it holds; a second, as it is by default, is nothing on such a machine.
    expect: { poll: { timeout: process.env.CI ? 200_000 : 50_000 } },
    // One more than the processors that a small machine has: most of a test's life is waiting.
    maxWorkers: 3,
    // Worlds of the simulation that live at a time; each has some thirty connections.
    maxConcurrency: 4,
    // A machine that others use stalls now and then; what fails twice is a fault.
    retry: process.env.CI ? 1 : 0,
  },
});

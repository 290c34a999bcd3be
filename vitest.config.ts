import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The simulation waits more than it works, and takes the longest: begun first, it runs beside all the others. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // eslint-disable-next-line unicorn/no-array-sort -- not an array's
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => moduleId.endsWith("sim/simulation.test.ts");
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  resolve: {
    alias: [
      { find: /^@tuntas\/aws$/, replacement: at("aws/src/index.ts") },
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
    expect: { poll: { timeout: 30_000 } },
    maxWorkers: 2,
    // Worlds of the simulation that live at a time; each has some thirty connections.
    maxConcurrency: 4,
    // A machine that others use stalls now and then; what fails twice is a fault.
    retry: process.env.CI ? 1 : 0,
  },
});

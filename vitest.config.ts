import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^tuntas$/, replacement: at("lib/src/index.ts") },
      { find: /^tuntas\/(gateway|fastify|console)$/, replacement: at("apps/$1/src/index.ts") },
      { find: /^tuntas\/(.+)$/, replacement: at("lib/src/$1/index.ts") },
    ],
  },
  test: {
    include: ["{lib,apps,examples,sim,bench,docs}/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**"],
    globalSetup: ["scripts/test-database.mjs"],
    env: { TUNTAS_LOG_LEVEL: "silent" },
    // Nothing here waits for long; a machine that is busy with other things makes everything take longer.
    testTimeout: process.env.CI ? 240_000 : 60_000,
    hookTimeout: process.env.CI ? 240_000 : 60_000,
    maxWorkers: 2,
    // A machine that others use stalls now and then; what fails twice is a fault.
    retry: process.env.CI ? 1 : 0,
  },
});

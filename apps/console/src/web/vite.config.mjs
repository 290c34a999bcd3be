// Builds the pages into the package. Everything is a file of our own: the content security policy allows no inline
// scripts, no inline styles and no other origin.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: at("."),
  base: "/console/",
  build: {
    outDir: at("../../../../lib/dist/apps/console/web"),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      // What a slow machine takes is no warning to whoever starts for the first time.
      checks: { bundlerTimings: false },
      // "use client" says something to frameworks that render on a server; here it says nothing.
      onLog: (level, log, handle) => log.code !== "MODULE_LEVEL_DIRECTIVE" && handle(level, log),
    },
  },
});

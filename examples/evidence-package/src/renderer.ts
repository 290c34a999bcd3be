// Renders pages: TUNTAS_SERVICE=renderer node dist/renderer.js, as many as there is to render.
import { makeLog, runMain, runUntilSignal, start } from "tuntas";
import { renderer } from "./evidence.ts";

runMain(async () => {
  const log = makeLog({ service: "renderer" });
  const running = await start(renderer, { name: "renderer", log });
  runUntilSignal(() => running.stop(), { log });
  log.info({ event: "service.ready" }, "the renderer renders");
});

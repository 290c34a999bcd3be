// The process: start as many as the work needs, on as many machines. SIGTERM ends it in order.
import { makeLog, runMain, runUntilSignal, start } from "tuntas";
import parcelLabel from "./parcel-label.ts";

runMain(async () => {
  const log = makeLog({ service: "parcel-label" });
  const running = await start(parcelLabel, { name: "parcel-label", log });
  runUntilSignal(() => running.stop(), { log });
  log.info({ event: "service.ready" }, "at work");
});

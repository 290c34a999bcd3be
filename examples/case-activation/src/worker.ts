// Steps and duplicate checks as a process of its own: start as many as the work needs.
import { makeLog, openPlatform, runMain, runUntilSignal, start } from "tuntas";
import cases from "./cases.ts";
import { databaseOptions } from "./config.ts";

runMain(async () => {
  const log = makeLog({ service: "cases-worker" });
  const platform = await openPlatform({ ...databaseOptions(), name: "cases-worker", log });
  const running = await start(cases, { platform });
  runUntilSignal(
    async () => {
      await running.stop();
      await platform.close();
    },
    { log },
  );
  log.info({ event: "service.ready" }, "the case worker works");
});

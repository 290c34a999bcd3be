// The process: as many of them as one likes, each occurrence is there once.
import { makeLog, openPlatform, runMain, runUntilSignal, start } from "tuntas";
import statements from "./statements.ts";

runMain(async () => {
  const log = makeLog({ service: "statements" });
  const platform = await openPlatform({ name: "statements", log });
  const running = await start(statements, { platform });
  runUntilSignal(
    async () => {
      await running.stop();
      await platform.close();
    },
    { log },
  );
  log.info({ event: "service.ready" }, "the schedules are kept");
});

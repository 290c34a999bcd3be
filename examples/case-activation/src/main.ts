// All of it in one process, for a laptop: `npm start`.
import { makeLog, openPlatform, runMain, runUntilSignal } from "tuntas";
import { databaseOptions, listenOptions } from "./config.ts";
import { startCases } from "./start.ts";

runMain(async () => {
  const log = makeLog({ service: "case-activation" });
  const platform = await openPlatform({ ...databaseOptions(), name: "case-activation", log });
  const cases = await startCases(platform, listenOptions());
  runUntilSignal(
    async () => {
      await cases.stop();
      await platform.close();
    },
    { log },
  );
  const { port } = cases;
  log.info({ event: "service.ready", port }, `case activation listens on http://127.0.0.1:${port}`);
});

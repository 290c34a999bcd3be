// API and workers in one process. In production the API is a process with `workers: false`, and of the other there are as many
// as the work needs.
import { makeLog, runMain, runUntilSignal, start } from "tuntas";
import { listenAt } from "tuntas/fastify";
import intake from "./intake.ts";
import { makeServer } from "./server.ts";
import { openTown } from "./town.ts";

runMain(async () => {
  const log = makeLog({ service: "complaint-intake" });
  const town = process.env.SCORING_URL && process.env.OFFICERS_URL ? undefined : await openTown();
  const running = await start(intake, { name: "complaint-intake", log });
  const server = await makeServer(running);
  runUntilSignal(
    async () => {
      await server.drain();
      await server.close();
      await running.stop();
      await town?.server.close();
    },
    { log },
  );
  const port = await listenAt(server, {
    host: "127.0.0.1",
    port: Number(process.env.PORT || 8082),
    variable: "PORT",
  });
  log.info({ event: "service.ready", port }, `complaint intake listens on http://127.0.0.1:${port}`);
});

// API, worker and a post office in one process, for a laptop: `npm start`.
import { makeLog, openPlatform, runMain, runUntilSignal, start } from "tuntas";
import { listenAt } from "tuntas/fastify";
import cases from "./cases.ts";
import { databaseOptions, listenOptions } from "./config.ts";
import { makePostOffice } from "./post-office.ts";
import { makeServer } from "./server.ts";
import { migrate } from "./store.ts";

runMain(async () => {
  const log = makeLog({ service: "case-activation" });
  const platform = await openPlatform({ ...databaseOptions(), name: "case-activation", log });
  await migrate(platform.database);
  let apiUrl: string | undefined;
  const office = await makePostOffice({ database: platform.database, receiptsUrl: () => apiUrl });
  const officePort = await listenAt(office, { host: "127.0.0.1", port: 0, variable: "NOTICE_URL" });
  process.env.NOTICE_URL ||= `http://127.0.0.1:${officePort}`;
  const running = await start(cases, { platform });
  const server = await makeServer(running);
  runUntilSignal(
    async () => {
      await server.drain();
      await running.stop();
      await Promise.all([server.close(), office.close()]);
      await platform.close();
    },
    { log },
  );
  const port = await listenAt(server, listenOptions());
  apiUrl = `http://127.0.0.1:${port}`;
  log.info({ event: "service.ready", port }, `case activation listens on ${apiUrl}`);
});

// One instance. It says when it is ready, and at SIGTERM that it is not, answers what it has taken, and ends with 0.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { makeLog, runMain, runUntilSignal } from "tuntas";

runMain(async () => {
  const log = makeLog({ service: "price-feed" });
  const prices = new Map([["apple", 3]]); // what it keeps in memory is gone with it: keep nothing here that must last
  let ready = true;
  const server = createServer(({ url }, response) => {
    if (url === "/readyz") return response.writeHead(ready ? 200 : 503).end();
    response.end(JSON.stringify(Object.fromEntries(prices)));
  });
  await new Promise<void>((resolve) => server.listen(Number(process.env.PORT || 8080), "127.0.0.1", resolve));
  runUntilSignal(
    async () => {
      ready = false;
      await new Promise((resolve) => server.close(resolve));
    },
    { log },
  );
  const { port } = server.address() as AddressInfo;
  log.info({ event: "service.ready", port }, `listens on http://127.0.0.1:${port}`);
});

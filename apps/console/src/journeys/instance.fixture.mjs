// A small web service, as the shop runs it: it says what it does, and where its settings are wrong it ends.
import { createServer } from "node:http";

const { PORT, CURRENCY = "" } = process.env;
const say = (message, more = {}) =>
  process.stdout.write(`${JSON.stringify({ level: "info", message, ...more })}\n`);

if (CURRENCY !== "EUR") {
  process.stderr.write(`Error: CURRENCY: expected EUR, got ${JSON.stringify(CURRENCY)}\n`);
  process.exit(3);
}
const server = createServer((request, response) => {
  if (request.url !== "/readyz") say("answered", { url: request.url });
  response.end("ready");
});
server.listen(Number(PORT), "127.0.0.1", () => say("listens", { port: Number(PORT) }));
process.on("SIGTERM", () => server.close(() => process.exit(0)));

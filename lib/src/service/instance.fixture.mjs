// An instance as a service runs it: answers on PORT, ready when it says so, and ends in order at SIGTERM unless it is
// told to misbehave.
import { createServer } from "node:http";

const { PORT, VERSION = "1", MISBEHAVIOUR = "" } = process.env;
let ready = MISBEHAVIOUR !== "never-ready";

if (MISBEHAVIOUR === "exits") process.exit(3);
if (MISBEHAVIOUR === "leaks") {
  const kept = [];
  setInterval(() => kept.push(Buffer.alloc(16 << 20, 1)), 20);
}

const server = createServer((request, response) => {
  const status = request.url === "/readyz" && !ready ? 503 : 200;
  response.writeHead(status).end(JSON.stringify({ version: VERSION, pid: process.pid }));
});
server.listen(Number(PORT ?? 0), "127.0.0.1", () => process.stdout.write(`listens on ${PORT}\n`));

process.on("SIGTERM", () => {
  if (MISBEHAVIOUR === "hangs") return;
  ready = false;
  server.close(() => process.exit(0));
});

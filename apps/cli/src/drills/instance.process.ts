// An instance of a service, which misbehaves as MISBEHAVIOUR says.
import { createServer } from "node:http";

const { PORT, MISBEHAVIOUR = "" } = process.env;
if (MISBEHAVIOUR === "exits") {
  process.stderr.write("no such command\n");
  process.exit(127);
}
if (MISBEHAVIOUR === "leaks") {
  const kept: Buffer[] = [];
  setInterval(() => kept.push(Buffer.alloc(8 << 20, 1)), 250);
}
const server = createServer(({ url }, response) => {
  response.writeHead(url === "/readyz" || url === "/" ? 200 : 404).end("1");
});
server.listen(Number(PORT), "127.0.0.1");
process.on("SIGTERM", () => server.close(() => process.exit(0)));

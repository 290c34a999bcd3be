// A worker process: handles what is sent to a queue, and tells its parent how many it handled, and how long each had waited.
import { app, start } from "../../lib/dist/index.js";
import { makeQueue, makeWorker, quiet } from "./queue.mjs";

let handled = 0;
let waits = [];
const drained = makeWorker(makeQueue(process.env.BENCH_QUEUE ?? "bench"), ({ t }) => {
  handled++;
  if (t !== undefined && handled % 10 === 0) waits.push(Date.now() - t);
});
await start(app({ drained }), { databaseUrl: process.env.DATABASE_URL, name: "bench-drainer", log: quiet });
process.on("message", () => {
  process.send({ handled, waits });
  waits = [];
});
process.on("disconnect", () => process.exit(0));
process.send("ready");

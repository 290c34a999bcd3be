// A service for the tests of service.ts; it runs the built code, as in production.
import { makeLog, runUntilSignal } from "../../dist/index.js";

const stops = {
  quick: () => new Promise((resolve) => setTimeout(resolve, 50)),
  stuck: () => new Promise(() => undefined),
  failing: () => Promise.reject(new Error("refused")),
};

const log = makeLog();
setInterval(() => undefined, 60_000);
runUntilSignal(stops[process.argv[2]], { log, deadlineMs: 300 });
log.info({ event: "ready" }, "ready");

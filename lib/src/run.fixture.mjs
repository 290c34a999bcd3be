// A process that runs an application and says what becomes of it, for run.test.ts; it runs the built code, as in production.
import { once } from "node:events";
import { app, queue, runApp, worker } from "../dist/index.js";

const { WORD, DRAIN = "20s" } = process.env;

const words = queue("words", {
  message: { "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }) } },
  deadLetter: { after: 5, owner: "test", runbook: "runbook.md", retention: "14d" },
});

const reader = worker(words, {
  idempotencyKey: (word) => word,
  timeout: "20s",
  async handle(word, { log, signal }) {
    log.info({ event: "attempt.begun" });
    await new Promise((resolve, reject) => {
      if (word === "slow") signal.addEventListener("abort", () => reject(signal.reason));
      else process.once("SIGTERM", () => setTimeout(resolve, 200));
    });
    log.info({ event: "attempt.ended" });
  },
});

runApp(app({ reader }), {
  name: "reader",
  async before({ log }) {
    log.info({ event: "before" });
    if (WORD === "early") await once(process, "SIGTERM");
    if (WORD === "never") await once(process, "SIGHUP");
  },
  drain: DRAIN,
  async serve({ platform: { log } }) {
    if (WORD === "taken") throw new Error("the port is taken");
    await words.send(WORD);
    return {
      url: "http://127.0.0.1:1",
      drain: async () => log.info({ event: "drained" }),
      close: async () => log.info({ event: "closed" }),
    };
  },
});

// An instance that works on a queue, one message at a time, and pays each by a call of a provider over HTTP: the test is
// the bank. Started with DATABASE_URL, SCHEMA, QUEUE and BANK.
import { app, makeLog, openPlatform, queue, runUntilSignal, start, worker } from "tuntas";
import { effect, provider } from "tuntas/ledger";

const { DATABASE_URL: databaseUrl, SCHEMA: schema, QUEUE: name, BANK: bank } = process.env;
const message = { "~standard": { version: 1, vendor: "fixture", validate: (value) => ({ value }) } };

const payments = queue(name, {
  message,
  deadLetter: { after: 100, owner: "tests", runbook: "none", retention: "1d" },
});
const theBank = provider({ name: `bank-${name}`, timeout: "60s", reconcile: { pay: "manual" } });

const paying = worker(payments, {
  idempotencyKey: ({ id }) => id,
  timeout: "100s",
  concurrency: 1,
  async handle({ id }, context) {
    await effect(
      context,
      { provider: theBank, operation: "pay", key: id, request: { id } },
      async ({ signal }) => {
        const answer = await fetch(`${bank}/${id}`, {
          method: "POST",
          headers: { pid: process.pid },
          signal,
        });
        return answer.json();
      },
    );
  },
});

const opening = openPlatform({ databaseUrl, schema, name: "payments", watches: false });
const running = opening.then((platform) => start(app({ payments, paying, theBank }), { platform }));
// Before it has opened, as in controller.fixture.mjs.
runUntilSignal(
  async () => {
    await (await running).close();
    await (await opening).close();
  },
  { log: makeLog() },
);
await running;

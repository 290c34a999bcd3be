// The work of a storm: payments, one call of a bank each, which bears so many calls a second and no more.
import { app, queue, worker } from "tuntas";
import { effect, provider } from "tuntas/ledger";
import { item } from "./work.ts";

export const payments = queue("drill-storm", {
  message: item,
  visibilityTimeout: "60s",
  deadLetter: {
    after: 20,
    retention: "1d",
    owner: "whoever drills",
    runbook: "docs/operate/runbooks.md#dead-letters",
  },
});

export const bankName = "drill-bank";

const bank = provider({ name: bankName, timeout: "20s", reconcile: { pay: "manual" } });

export const paying = worker(payments, {
  idempotencyKey: ({ id }) => id,
  timeout: "40s",
  concurrency: 1,
  async handle({ id }, context) {
    await effect(
      context,
      { provider: bank, operation: "pay", key: id, request: { id } },
      async ({ signal }) => {
        const answer = await fetch(`${process.env.BANK}/${id}`, { method: "POST", signal });
        if (!answer.ok) throw new Error(`the bank answers ${answer.status}`);
        return answer.json();
      },
    );
  },
});

export default app({ payments, paying, bank });

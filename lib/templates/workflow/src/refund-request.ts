// A refund, step by step, over a day: the document says what comes next, these functions do it.
import { app, workflow } from "tuntas";
import { task } from "tuntas/workflow";
import { z } from "zod";

const refund = z.object({ refundId: z.string().min(1), amount: z.number() });
type Refund = z.infer<typeof refund>;

/** The document catches it by this name. */
class NothingToRefund extends Error {
  override readonly name = "NothingToRefund";
}

const check = (given: Refund): Refund => {
  if (given.amount > 0) return given;
  throw new NothingToRefund(`an amount of ${given.amount}`);
};

/** What it writes commits together with the step, or not at all: so a repeat is harmless, and the state may have a Retry. */
const pay = task({
  idempotent: true,
  async handle({ refundId, amount }: Refund, { tx, log }) {
    log.info({ event: "refund.begun", refundId }, "a refund is paid");
    await tx.query("insert into refund_request.paid (refund_id, amount) values ($1, $2)", [refundId, amount]);
    return { refundId };
  },
});

const tell = task({
  idempotent: true,
  handle({ refundId }: Pick<Refund, "refundId">, { log }) {
    log.info({ event: "refund.told", refundId }, "the customer knows"); // a call to the outside: the ledger's `effect`
  },
});

export const refundRequest = workflow("refund-request", {
  definition: new URL("../workflows/refund-request.asl.yaml", import.meta.url),
  input: refund,
  tasks: { check, pay, tell },
  accepts: {
    "workflow-unreconciled": "what is paid is written by its own step, in one commit, and by nobody else",
  },
});

export default app(
  { refundRequest },
  {
    migrations: {
      schema: "refund_request",
      folder: new URL("../migrations/refund-request/", import.meta.url),
    },
  },
);

// A payment waits for people: two must agree, the one who asked is neither. It waits for days, and holds nothing meanwhile.
import { app, workflow } from "tuntas";
import { approval } from "tuntas/workflow";
import { z } from "zod";

const payment = z.object({ paymentId: z.string(), amount: z.number(), requestedBy: z.string() });

const ask = approval({
  request: ({ paymentId, amount, requestedBy }: z.infer<typeof payment>) => ({
    subject: paymentId,
    requestedBy,
    evidence: { amount },
    deciders: { roles: ["treasurer"] },
    signatures: 2,
    due: "1d",
    escalation: { after: "2d", to: { roles: ["cfo"] } },
    expires: "5d",
  }),
  // In the transaction of the last signature: the payment is marked with the decision, or neither is there.
  async decided(tx, { approval: { subject }, status }) {
    await tx.query("insert into large_payment.decision (payment_id, status) values ($1, $2)", [
      subject,
      status,
    ]);
  },
});

export const largePayment = workflow("large-payment", {
  definition: new URL("../workflows/large-payment.asl.yaml", import.meta.url),
  input: payment,
  tasks: { ask },
  accepts: {
    "workflow-unreconciled": "the decision is written in the transaction that decides, and by nobody else",
  },
});

export default app(
  { largePayment },
  {
    migrations: { schema: "large_payment", folder: new URL("../migrations/large-payment/", import.meta.url) },
  },
);

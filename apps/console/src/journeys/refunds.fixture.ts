// The workflow of the shop that asks people: a refund beyond a sum takes two signatures.
import { approval, workflow } from "tuntas/workflow";
import { z } from "zod";

const refund = z.object({ orderId: z.string(), amount: z.number(), requestedBy: z.string() });

const ask = approval({
  input: refund,
  request: ({ orderId, amount, requestedBy }) => ({
    subject: `Refund of ${amount.toFixed(2)} for ${orderId}`,
    requestedBy,
    deciders: { people: ["dewi"], roles: ["finance-lead"] },
    signatures: amount > 500 ? 2 : 1,
    evidence: { orderId, amount, paidAt: "2026-11-27T09:12:00Z", earlierRefunds: 0 },
    due: "8h",
    escalation: { after: "1d", to: { roles: ["head-of-finance"] } },
    expires: "7d",
  }),
});

export const refundApproval = workflow("RefundApproval", {
  definition: {
    StartAt: "AskFinance",
    States: {
      AskFinance: {
        Type: "Task",
        Resource: "arn:aws:states:::lambda:invoke.waitForTaskToken",
        TimeoutSeconds: 604_800,
        Parameters: { FunctionName: "ask", "Payload.$": "$" },
        End: true,
      },
    },
  },
  tasks: { ask },
});

export const refunds: readonly z.infer<typeof refund>[] = [
  { orderId: "ord-1003", amount: 49.9, requestedBy: "rizal" },
  { orderId: "ord-1017", amount: 1240, requestedBy: "rizal" },
  { orderId: "ord-1022", amount: 18.5, requestedBy: "mira" },
];

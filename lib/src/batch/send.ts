// The messages of steps, sent in the transaction that they belong to.
import { randomUUID } from "node:crypto";
import type { JoiningTarget } from "../engine/target.ts";
import type { Tx } from "../pg/contract.ts";

export type Send<Step> = (tx: Tx, queue: string, steps: readonly Step[]) => Promise<void>;

const statementMax = 1000;

export const makeSend =
  <Step>(queues: JoiningTarget, bodyOf: (step: Step) => string): Send<Step> =>
  async (tx, queue, steps) => {
    const target = { kind: "queue", name: queue };
    for (let at = 0; at < steps.length; at += statementMax)
      await queues.deliverIn(
        tx,
        steps.slice(at, at + statementMax).map((step) => ({
          target,
          eventId: randomUUID(),
          key: null,
          type: null,
          payload: bodyOf(step),
        })),
      );
  };

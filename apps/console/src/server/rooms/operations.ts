// Operations: what people set in motion upon many things, how far it is, and what they say to it.
import type { OperationActs, OperationReads, OperationState } from "../../api/index.ts";
import type { ActsOf, Needs, ReadsOf } from "../needs.ts";
import { paged } from "./queues.ts";

const rowsMax = 200;
const perSecondMax = 100_000;

const states: readonly OperationState[] = [
  "awaiting_approval",
  "running",
  "paused",
  "completed",
  "aborted",
  "declined",
  "failed",
];
const outcomes = ["done", "refused", "skipped"] as const;

export const operationReads = ({ platform: { operations } }: Needs): ReadsOf<keyof OperationReads> => ({
  operations: async (query) => ({
    items: await operations.list({ state: query.choice("state", states), limit: rowsMax }),
  }),
  operation: (query) => operations.get(query.text("id")),
  async "operation.items"(query) {
    const filter = {
      outcome: query.choice("outcome", outcomes),
      after: Number(query.optionalId("after") ?? 0),
      limit: rowsMax + 1,
    };
    const rows = await operations.items(query.text("id"), filter);
    return paged(rows, rowsMax, (last) => String(last.number));
  },
});

export const operationActs = ({ platform: { operations } }: Needs): ActsOf<keyof OperationActs> => ({
  "operation.decide": {
    may: "operation.approve",
    run: (body, { name: actor }) =>
      operations.say(body.oneOf("verb", ["approve", "decline"]), body.text("id"), {
        actor,
        reason: body.text("reason"),
      }),
  },
  "operation.steer": {
    may: "operation.abort",
    run: (body, { name: actor }) =>
      operations.say(body.oneOf("verb", ["pause", "resume", "abort"]), body.text("id"), {
        actor,
        reason: body.text("reason"),
      }),
  },
  "operation.rate": {
    may: "operation.abort",
    run: (body, { name: actor }) =>
      operations.setRate(body.text("id"), body.integer("perSecond", { min: 1, max: perSecondMax }) ?? null, {
        actor,
        reason: body.text("reason"),
      }),
  },
});

// An occurrence as an order to where its work goes; a declared schedule gives its window, an arranged one its text with
// EventBridge's keywords filled in. And the dead letter of an order that could not be placed.
import { createHash } from "node:crypto";
import type { Order } from "../engine/destination.ts";
import { scheduleArn, targetArn } from "./place.ts";
import { arrangedOf } from "./settings.ts";
import { filledIn, inputOf, iso, keyOf, type Keywords } from "./state.ts";
import type { Open, ScheduleRow } from "./store.ts";

/** An occurrence whose work is to be begun. */
export type Pending = Pick<Open, "dueMs" | "run" | "windowStartMs" | "tries" | "triedAtMs">;

/** The same for each try of one occurrence, and for no other, also not of a schedule that had the name before. */
function executionIdOf({ name, createdAtMs }: ScheduleRow, { dueMs, run }: Pending): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([name, createdAtMs, dueMs, run]))
    .digest("hex");
  return digest.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** EventBridge's times are whole seconds. */
const secondOf = ({ dueMs }: Pending): string => iso(Math.floor(dueMs / 1000) * 1000);

const keywordsOf = (row: ScheduleRow, of: Pending): Keywords => ({
  "schedule-arn": scheduleArn(arrangedOf(row).place),
  "scheduled-time": secondOf(of),
  "execution-id": executionIdOf(row, of),
  "attempt-number": String(of.tries + 1),
});

export function orderOf(row: ScheduleRow, of: Pending): Order {
  const { name, timeZone, targetKind: kind, targetName, input } = row;
  const target = { kind, name: targetName };
  if (row.isTemplate) {
    const keywords = keywordsOf(row, of);
    const extras = JSON.parse(filledIn(row.extras, keywords)) as Partial<Order>;
    return {
      target,
      key: keywords["execution-id"],
      group: name,
      input: filledIn(input, keywords),
      ...extras,
    };
  }
  const given = JSON.parse(input) as Record<string, unknown>;
  const work = inputOf({ schedule: name, timeZone, input: given, ...of, windowEndMs: of.dueMs });
  return { target, key: keyOf(name, of.dueMs, of.run), group: name, input: JSON.stringify(work) };
}

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly exhausted: string;
}

/** What EventBridge Scheduler says of work that it could not begin, with the input that it had; undefined where nobody asks. */
export function deadLetterOf(row: ScheduleRow, of: Pending, failure: Failure): Order | undefined {
  if (row.deadLetter === null) return undefined;
  const { target, key, group, input } = orderOf(row, of);
  return {
    target: { kind: "queue", name: row.deadLetter },
    key,
    group,
    input,
    attributes: {
      ERROR_CODE: failure.code,
      ERROR_MESSAGE: failure.message,
      EXECUTION_ID: executionIdOf(row, of),
      EXHAUSTED_RETRY_CONDITION: failure.exhausted,
      IS_PAYLOAD_TRUNCATED: "false",
      RETRY_ATTEMPTS: String(of.tries),
      SCHEDULED_TIME: secondOf(of),
      SCHEDULE_ARN: scheduleArn(arrangedOf(row).place),
      TARGET_ARN: targetArn(target),
    },
  };
}

// Three ways to start a workflow so that a crash between two writes neither loses nor doubles it. All rest on the
// execution's name: whoever starts again finds the execution that is there.
import { randomUUID } from "node:crypto";
import { describeFailure } from "../../engine/failure.ts";
import type { Announcement, Receipt, Target } from "../../engine/target.ts";
import { isUnavailable } from "../../engine/unavailable.ts";
import type { Sql } from "../../pg/contract.ts";
import type { Runner, Transaction } from "../../pg/join.ts";
import { join } from "../../pg/join.ts";
import { add } from "../client.ts";
import { outboxErrors, startExecutionType, type Starter } from "../contract.ts";
import type { StartCommand, StartPattern } from "./command.ts";
import { executionName, startInput } from "./command.ts";
import type { NewStart, StartRow } from "./store.ts";
import { findStarts, insertStart, markFailed, markStarted, missingStarts } from "./store.ts";

export interface StartAnswer {
  /** `duplicate`: the same command had been accepted before. */
  readonly status: "created" | "duplicate";
  readonly executionName: string;
  readonly input: string;
  /** Undefined where it has not been started yet. */
  readonly executionArn: string | undefined;
}

const startTimeoutMs = 10_000;

const toStart = (command: StartCommand, pattern: StartPattern): NewStart => ({
  commandId: command.commandId,
  pattern,
  workflow: command.workflowName,
  executionName: executionName(command),
  input: startInput(command),
});

const announcementOf = ({
  workflow,
  executionName,
  input,
}: Pick<StartRow, "workflow" | "executionName" | "input">): Announcement => ({
  target: { kind: "workflow", name: workflow },
  eventId: randomUUID(),
  key: executionName,
  type: startExecutionType,
  payload: input,
});

const call = async (
  starter: Starter,
  start: Pick<StartRow, "workflow" | "executionName" | "input">,
): Promise<Receipt> =>
  (await starter(announcementOf(start), AbortSignal.timeout(startTimeoutMs))) ?? { status: "created" };

const answerOf = (
  status: StartAnswer["status"],
  row: NewStart,
  executionArn: string | null | undefined,
): StartAnswer => ({
  status,
  executionName: row.executionName,
  input: row.input,
  executionArn: executionArn ?? undefined,
});

const sameStart = (row: StartRow, start: NewStart): boolean =>
  row.commandId === start.commandId && row.executionName === start.executionName && row.input === start.input;

async function record(
  tx: Runner,
  start: NewStart,
): Promise<{ status: StartAnswer["status"]; row: StartRow }> {
  const created = await insertStart(tx, start);
  if (created) return { status: "created", row: created };
  const rows = await findStarts(tx, start);
  const [row] = rows;
  if (row && rows.length === 1 && sameStart(row, start)) return { status: "duplicate", row };
  const other = row
    ? `command ${row.commandId} started ${row.executionName} with another input`
    : "another transaction is recording it";
  throw outboxErrors.error(
    "TUNTAS_START_CONFLICT",
    `${start.executionName}: expected a new start or the same again, but ${other}`,
  );
}

/**
 * Pattern A: the workflow owns the process. Starts at once; the workflow's first step creates the record with `once`.
 * A caller that got no answer calls again with the same command.
 */
export async function startDirectly(starter: Starter, command: StartCommand): Promise<StartAnswer> {
  const start = toStart(command, "A");
  const { status, reference } = await call(starter, start);
  return answerOf(status, start, reference);
}

/**
 * Pattern B, the default for regulated cases: the accepted command and its announcement commit with the caller's
 * change; the relay starts the workflow. Errors: TUNTAS_START_CONFLICT, TUNTAS_START_INVALID.
 */
export async function startByOutbox(tx: Transaction, command: StartCommand): Promise<StartAnswer> {
  const start = toStart(command, "B");
  const runner = join(tx);
  const { status, row } = await record(runner, start);
  if (status === "created") {
    const { target, key, type, payload } = announcementOf(start);
    await add(runner, { target, key: key!, type: type!, payload });
  }
  return answerOf(status, start, row.executionArn);
}

/** Pattern C, its first half: records the accepted command in the caller's transaction. `startRecorded` comes after the commit. */
export async function recordStart(tx: Transaction, command: StartCommand): Promise<StartAnswer> {
  const start = toStart(command, "C");
  const { status, row } = await record(join(tx), start);
  return answerOf(status, start, row.executionArn);
}

/** Pattern C, its second half: starts what was recorded. Where it fails, the reconciliation of missing starts does it. */
export async function startRecorded(sql: Sql, starter: Starter, command: StartCommand): Promise<StartAnswer> {
  const start = toStart(command, "C");
  const { status, reference } = await startRow(sql, starter, start);
  return answerOf(status, start, reference);
}

async function startRow(sql: Runner, starter: Starter, start: NewStart): Promise<Receipt> {
  try {
    const receipt = await call(starter, start);
    await markStarted(sql, start, receipt.reference);
    return receipt;
  } catch (cause) {
    await markFailed(sql, start.commandId, {
      message: describeFailure(cause).message,
      manual: !isUnavailable(cause),
    }).catch(() => undefined);
    throw cause;
  }
}

/** Starts accepted commands that have no execution after `olderMs`; what is refused is left to a person. Answers how many started. */
export async function startMissing(sql: Sql, starter: Starter, olderMs: number): Promise<number> {
  let count = 0;
  for (const row of await missingStarts(sql, olderMs)) {
    const started = await startRow(sql, starter, row).then(
      () => true,
      () => false,
    );
    count += Number(started);
  }
  return count;
}

/** A workflow target that also notes in `workflow_start` what was asked for there; the platform binds it. */
export const workflowTarget = (sql: Sql, starter: Starter): Target => ({
  async deliver(announcement, signal) {
    const receipt = (await starter(announcement, signal)) ?? { status: "created" };
    const { target, key: executionName, type } = announcement;
    if (type === startExecutionType && executionName !== null)
      await markStarted(sql, { workflow: target.name, executionName }, receipt.reference);
    return receipt;
  },
});

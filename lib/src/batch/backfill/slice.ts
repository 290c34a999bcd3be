// A slice of records is handled at once; where that fails it is halved, each half under a savepoint, until the records at fault
// are found. Whatever the handler announces is kept back.
import { Outcome } from "../../core/outcome.ts";
import { describeFailure } from "../../engine/failure.ts";
import { asReplay, type Replay } from "../../engine/handler/replay.ts";
import { isUnavailable } from "../../engine/unavailable.ts";
import { within } from "../../engine/outside/within.ts";
import type { BackfillContext, FailedRecord, Handle } from "./contract.ts";
import { nameOf, type Found } from "./records.ts";

export interface SliceCall {
  readonly handle: Handle<any, string>;
  readonly context: BackfillContext<any>;
  readonly replay: Replay;
}

/** Whether it says something about the moment, so that the whole slice is worth another try. */
const isOfTheMoment = (cause: unknown): boolean =>
  cause instanceof Outcome ? cause.kind === "retry" || cause.kind === "conflict" : isUnavailable(cause);

const isDone = (returned: unknown): boolean =>
  !(returned instanceof Outcome) || returned.kind === "done" || returned.kind === "duplicate";

async function failureOf(found: readonly Found[], { handle, context, replay }: SliceCall): Promise<unknown> {
  const { tx, signal } = context;
  const { suppressed } = replay;
  // Neither is waited for by itself: what fails of them fails all that follows.
  const saved = tx.query("savepoint tuntas_slice");
  try {
    const records = found.map(({ record }) => record);
    const call = within(signal, () => asReplay(replay, async () => handle(records, context)));
    const [returned] = await Promise.all([call, saved]);
    if (!isDone(returned)) throw returned;
    tx.query("release savepoint tuntas_slice").catch(() => undefined);
    return undefined;
  } catch (cause) {
    if (signal.aborted || isOfTheMoment(cause)) throw cause;
    await tx.query("rollback to savepoint tuntas_slice");
    await tx.query("release savepoint tuntas_slice");
    replay.suppressed = suppressed;
    return cause ?? new Error("the handler threw nothing");
  }
}

/** Handles the records, and answers those that cannot be, each with why. Errors: what is worth another try of all. */
export async function handleAll(found: readonly Found[], call: SliceCall): Promise<FailedRecord[]> {
  if (found.length === 0) return [];
  const cause = await failureOf(found, call);
  if (cause === undefined) return [];
  if (found.length === 1) return [{ record: nameOf(found[0]!.cursor), ...describeFailure(cause) }];
  const middle = found.length >> 1;
  return [
    ...(await handleAll(found.slice(0, middle), call)),
    ...(await handleAll(found.slice(middle), call)),
  ];
}

// Undoing work: what its steps have registered is run from the last one back, each once, until nothing is left or one
// fails. That one is parked, and what came before it stays untouched until a person has decided.
import { refuseUnknown, type NamesOf } from "../../core/options.ts";
import { toMs } from "../../core/duration.ts";
import { describeFailure, type Failure } from "../../engine/failure.ts";
import { fenced, openTransaction, type HandlerTransaction } from "../../engine/handler/transaction.ts";
import { isUnavailable } from "../../engine/unavailable.ts";
import { within } from "../../engine/outside/within.ts";
import { isConnectionLost } from "../../pg/faults.ts";
import type { Database } from "../../pg/database.ts";
import type { Runner, Transaction } from "../../pg/join.ts";
import { join } from "../../pg/join.ts";
import { checkKey, resultText } from "../canonical.ts";
import { ledgerErrors } from "../contract.ts";
import { onRecord, type Act } from "../operator.ts";
import { ledgerSignals } from "../signals.ts";
import type { CompensateAnswer, Compensation, CompensationRow, UndoContext } from "./contract.ts";
import * as store from "./store.ts";
import type { Claimed } from "./store.ts";

const timeoutDefault = "30s";
const attemptsMaxDefault = 5;
/** What writing the end of an attempt may take, over its timeout. */
const marginMs = 10_000;

export interface RegisterOptions<Input> {
  /** Whose step it is; `compensate` undoes all of one work. */
  readonly work: string;
  readonly input: Input;
  /** Tells several undos of one name apart. */
  readonly key?: string;
}

const registerNames: NamesOf<RegisterOptions<any>> = { work: true, input: true, key: true };

/** Registers how to undo a step, in the step's own transaction. Errors: TUNTAS_REQUEST_INVALID, TUNTAS_OPTION_UNKNOWN. */
export async function registerCompensation<Input>(
  tx: Transaction,
  { options: { name } }: Compensation<Input>,
  options: RegisterOptions<Input>,
): Promise<{ readonly status: "created" | "duplicate" }> {
  refuseUnknown("registerCompensation", options, registerNames);
  const { work, input, key = name } = options;
  for (const [what, value] of Object.entries({ name, work, key })) checkKey(what, value);
  const isNew = await store.insertCompensation(join(tx), { work, name, key, input: resultText(input) });
  return { status: isNew ? "created" : "duplicate" };
}

/** The work has succeeded: nothing of it will be undone. Answers how many undos were registered. */
export const forgetCompensations = (tx: Transaction, work: string): Promise<number> =>
  store.forgetRegistered(join(tx), work);

class Undoing implements UndoContext {
  readonly transaction: HandlerTransaction;
  readonly database: Database;
  readonly signal: AbortSignal;
  readonly caller: string;
  readonly key: string;
  readonly attempt: number;

  constructor(database: Database, { id, work, attempts }: Claimed, timeoutMs: number) {
    this.database = database;
    this.transaction = openTransaction({ database, timeoutMs });
    this.signal = AbortSignal.timeout(timeoutMs);
    this.caller = work;
    this.key = `compensation-${id}`;
    this.attempt = attempts;
  }

  get tx() {
    return this.transaction.tx;
  }

  get transactionOpen() {
    return this.transaction.isOpen();
  }
}

/** One attempt; undefined where it is done, else why not. */
async function attempt(database: Database, row: Claimed, { options }: Compensation): Promise<unknown> {
  const context = new Undoing(database, row, toMs(options.timeout ?? timeoutDefault));
  try {
    await within(context.signal, async () => options.undo(JSON.parse(row.input), context));
    await context.transaction.commit([
      fenced({ statement: store.finishCompensation, values: [row.id, row.fence] }),
    ]);
    return undefined;
  } catch (cause) {
    await context.transaction.rollback();
    return cause ?? new Error("the undo threw nothing");
  }
}

const missing = ({ name, work }: CompensationRow) =>
  ledgerErrors.error(
    "TUNTAS_COMPENSATION_MISSING",
    `compensation ${name} of ${work}: expected it among those that were given, got none of that name`,
  );

/** Whether it may go well at another time. */
const isPassing = (cause: unknown): boolean => isUnavailable(cause) || isConnectionLost(cause);

async function giveBack(
  database: Database,
  row: Claimed,
  { cause, attemptsMax }: { cause: unknown; attemptsMax: number },
): Promise<CompensationRow> {
  const failure: Failure = describeFailure(cause);
  const park = !isPassing(cause) || row.attempts >= attemptsMax;
  const returned = await store.returnCompensation(database, row, { park, failure });
  const { name, work } = row;
  if (returned?.state === "parked")
    ledgerSignals.publish("compensation.parked", { name, work, code: failure.code });
  return returned ?? (await store.findCompensation(database, row.id))!;
}

/** What stands in the way where nothing could be claimed. */
async function standing(sql: Runner, work: string, done: number): Promise<CompensateAnswer | undefined> {
  const row = await store.findLast(sql, work);
  if (!row) return { status: "completed", done };
  if (row.state === "parked") return { status: "parked", done, row };
  return row.state === "running" ? { status: "busy", done, row } : undefined;
}

/**
 * Undoes what the work's steps have done, from the last one back, each once. Safe to call again at any time: what is
 * done stays done, and of two callers one waits its turn (`busy`). Never throws for what an undo does.
 */
export async function compensate(
  database: Database,
  work: string,
  declared: readonly Compensation[],
): Promise<CompensateAnswer> {
  const byName = new Map(declared.map((each) => [each.options.name, each]));
  const timeouts = declared.map(({ options }) => toMs(options.timeout ?? timeoutDefault));
  const leaseMs = Math.max(toMs(timeoutDefault), ...timeouts) + marginMs;
  let done = 0;
  for (;;) {
    const row = await store.claimLast(database, work, leaseMs);
    if (!row) {
      const answer = await standing(database, work, done);
      if (answer) return answer;
      continue;
    }
    const of = byName.get(row.name);
    const cause = of ? await attempt(database, row, of) : missing(row);
    if (cause === undefined) {
      done++;
      ledgerSignals.publish("compensation.done", { name: row.name, work });
      continue;
    }
    const attemptsMax = of?.options.attemptsMax ?? attemptsMaxDefault;
    const left = await giveBack(database, row, { cause, attemptsMax });
    if (left.state === "done") continue; // the commit was lost on its way back, not on its way there
    return { status: left.state === "parked" ? "parked" : "waiting", done, row: left };
  }
}

const decide = (
  database: Database,
  id: string,
  {
    by,
    reason,
    action,
    move,
  }: Act & { action: string; move: (tx: Runner) => Promise<CompensationRow | undefined> },
): Promise<CompensationRow> =>
  onRecord(database, {
    by,
    reason,
    action,
    subject: `compensation ${id}`,
    details: ({ work, name, key, failureCode }) => ({ work, name, key, failureCode }),
    async work(tx) {
      const moved = await move(tx);
      if (moved) return moved;
      const found = await store.findCompensation(tx, id);
      throw ledgerErrors.error(
        "TUNTAS_COMPENSATION_STATE",
        `compensation ${id}: expected a parked one, got ${found?.state ?? "none of that id"}`,
      );
    },
  });

/** Lets a parked undo be tried again, by the next `compensate`. Errors: TUNTAS_COMPENSATION_STATE. */
export const retryCompensation = (database: Database, id: string, act: Act): Promise<CompensationRow> =>
  decide(database, id, {
    ...act,
    action: "compensation.retry",
    move: (tx) => store.unparkCompensation(tx, id),
  });

/** Says that a person has undone it, or that there is nothing to undo. Errors: TUNTAS_COMPENSATION_STATE. */
export const settleCompensation = (database: Database, id: string, act: Act): Promise<CompensationRow> =>
  decide(database, id, {
    ...act,
    action: "compensation.settle",
    move: (tx) => store.settleParked(tx, id, `${act.by}: ${act.reason}`),
  });

// A handler's call: in one transaction of its own, as the role of its command, checked before its commit. A dry run, a broken
// invariant and a result that is none are taken back.
import { Outcome as Word } from "../../core/outcome.ts";
import { describeFailure } from "../../engine/failure.ts";
import { asReplay, beginReplay, newReplay } from "../../engine/handler/replay.ts";
import { openTransaction, type HandlerTransaction } from "../../engine/handler/transaction.ts";
import type { Log } from "../../engine/log.ts";
import { within } from "../../engine/outside/within.ts";
import { isUnavailable } from "../../engine/unavailable.ts";
import type { Database } from "../../pg/database.ts";
import { statement } from "../../pg/database.ts";
import { join, type Runner } from "../../pg/join.ts";
import type { Hold } from "../contract.ts";
import {
  commandErrors,
  type CommandAccount,
  type CommandContext,
  type CommandDefinition,
  type CommandRun,
  type Policy,
} from "./contract.ts";
import { isProgram } from "./declaration.ts";
import type { Begun } from "./store.ts";

/** A run as it is carried out here. */
export interface Attempt {
  readonly definition: CommandDefinition;
  readonly run: CommandRun;
  readonly begun: Begun;
  readonly hold: Hold;
  readonly log: Log;
}

/** What a run has come to, before it is on record. */
export interface Outcome {
  readonly exitCode: number;
  readonly account: unknown;
  readonly failure?: string | undefined;
  readonly output?: string | null;
  readonly invariant?: readonly string[] | null;
}

const outputMax = 16 << 20;
const [failed, wrongInput, inPart, overlaps, timedOut] = [1, 2, 3, 4, 124];
/** For the end of a run beside what its handler may take. */
const spareMs = 5000;
const checkMs = 60_000;

const setRole = statement(`select set_config('role', $1, true)`);
const constraints = "set constraints all immediate";

function outputOf(output: unknown): string | null {
  if (output === undefined) return null;
  const text = JSON.stringify(output) ?? "null";
  if (text.length <= outputMax) return text;
  throw commandErrors.error(
    "TUNTAS_COMMAND_OUTPUT",
    `expected at most ${outputMax} characters of JSON, got ${text.length}`,
  );
}

/** What the handler and the check get. */
const contextOf = (
  { run, begun, log }: Attempt,
  tx: HandlerTransaction["tx"],
  signal: AbortSignal,
): CommandContext => ({
  tx,
  dryRun: run.dryRun,
  run: { id: run.id, command: run.command },
  idempotencyKey: begun.requestHash,
  signal,
  log,
});

/** As the command's role; from there on what it announces is kept back where it is a dry run. */
async function asRole<T>(
  { tx }: HandlerTransaction,
  { databaseRole, dryRun }: Pick<Policy, "databaseRole"> & { readonly dryRun: boolean },
  work: () => Promise<T>,
): Promise<T> {
  if (dryRun) await beginReplay(join(tx));
  await join(tx).run(setRole, [databaseRole]);
  const done = await (dryRun ? asReplay(newReplay(), work) : work());
  // What is checked only at a commit is to be found here, too.
  await tx.query(constraints);
  // The session's, too: a handler that has set that would leave its role to whoever gets the connection next.
  await tx.query("reset role");
  return done;
}

async function call(attempt: Attempt, context: CommandContext): Promise<Outcome> {
  const { run, success } = attempt.definition.options;
  if (isProgram(run)) throw new Error(`${attempt.definition.name} is a program`);
  const given = attempt.run.arguments as never;
  const said: CommandAccount | undefined = await run(given, context);
  const { output, ...account } = said ?? ({} as CommandAccount);
  const invariant = await success.check(given, context);
  const broken = invariant.length > 0;
  return {
    exitCode: broken ? failed : (account.recordsFailed ?? 0) > 0 ? inPart : 0,
    account: said === undefined ? undefined : account,
    output: outputOf(output),
    invariant,
    ...(broken && { failure: `the domain invariant is broken: ${invariant.join("; ")}` }),
  };
}

const codes: Readonly<Record<string, number>> = {
  rejected: wrongInput,
  poison: wrongInput,
  conflict: overlaps,
};

/** A failure as a result. Errors: the cause itself, where it says something about the moment, not about the run. */
export function failureOf(cause: unknown, { hold }: Attempt, timeout?: AbortSignal): Outcome {
  if (hold.signal.aborted) throw cause;
  if (timeout?.aborted)
    return { exitCode: timedOut, account: undefined, failure: "it took longer than its timeout" };
  if (!(cause instanceof Word) && isUnavailable(cause)) throw cause;
  const { code, message } = describeFailure(cause);
  const exitCode = (cause instanceof Word && codes[cause.kind]) || failed;
  return { exitCode, account: undefined, failure: `${code}: ${message}` };
}

/** Puts the end into the transaction; answers what to do after the commit, undefined where nothing of it is to stay. */
type PutEnd = (tx: Runner, outcome: Outcome) => Promise<(() => void) | undefined>;

/** Undefined where its end was committed with what it wrote. */
export async function callHandler(
  database: Database,
  { attempt, policy }: { readonly attempt: Attempt; readonly policy: Policy },
  putEnd: PutEnd,
): Promise<Outcome | undefined> {
  const timeout = AbortSignal.timeout(policy.timeoutMs);
  const signal = AbortSignal.any([attempt.hold.signal, timeout]);
  const transaction = openTransaction({ database, timeoutMs: policy.timeoutMs + spareMs });
  const { databaseRole } = policy;
  try {
    const context = contextOf(attempt, transaction.tx, signal);
    const outcome = await within(signal, () =>
      asRole(transaction, { databaseRole, dryRun: attempt.run.dryRun }, () => call(attempt, context)),
    );
    const committed = await putEnd(join(transaction.tx), outcome);
    await (committed ? transaction.commit([]) : transaction.rollback());
    committed?.();
    return committed ? undefined : outcome;
  } catch (cause) {
    await transaction.rollback();
    return failureOf(cause, attempt, timeout);
  }
}

/** The check alone, after a program; nothing that it writes stays. One that fails has found something wrong. */
export async function checkDomain(
  database: Database,
  attempt: Attempt,
  { databaseRole }: Policy,
): Promise<readonly string[]> {
  const { definition, run, hold } = attempt;
  const timeout = AbortSignal.timeout(checkMs);
  const signal = AbortSignal.any([hold.signal, timeout]);
  const transaction = openTransaction({ database, timeoutMs: checkMs + spareMs });
  const { tx } = transaction;
  try {
    const { check } = definition.options.success;
    const context = { tx, dryRun: run.dryRun, signal };
    return await within(signal, () =>
      asRole(transaction, { databaseRole, dryRun: false }, async () =>
        check(run.arguments as never, context),
      ),
    );
  } catch (cause) {
    return [`the check failed: ${failureOf(cause, attempt, timeout).failure}`];
  } finally {
    await transaction.rollback();
  }
}

// The asking side: what is declared, runs planned, and what a person can say to one; and what the platform holds of it.
import { workAgendum, type Agendum } from "../../engine/agenda.ts";
import { writeAudit } from "../../engine/audit.ts";
import { makeDueClock } from "../../engine/due.ts";
import type { JoiningTarget } from "../../engine/target.ts";
import { makeBell, type Waker } from "../../engine/wake.ts";
import { isStorable } from "../../core/text.ts";
import { requestHash } from "../../ledger/index.ts";
import type { Sql, Tx } from "../../pg/contract.ts";
import { isUniqueViolation } from "../../pg/faults.ts";
import type { Withdraw } from "../../queue/client/target.ts";
import type { WorkerDefinition } from "../../queue/declaration.ts";
import type { Act } from "../contract.ts";
import { makeNews } from "../news.ts";
import { makeSend } from "../send.ts";
import {
  backfillErrors,
  type BackfillDefinition,
  type BackfillPartitionReport,
  type BackfillReport,
  type FailedRecord,
  type Planned,
  type RunReport,
  type RunVerb,
  type Sample,
} from "./contract.ts";
import { queueNameOf, settingsOf } from "./declaration.ts";
import { moveOn } from "./move.ts";
import { tellMove } from "./signals.ts";
import { canSay, isSettled, shareOf, verbs } from "./state.ts";
import { beginningOf, bodyOf, type Step } from "./step.ts";
import * as backfills from "./store/backfills.ts";
import * as partitions from "./store/partitions.ts";
import * as runs from "./store/runs.ts";
import type { Move, RunRow } from "./store/runs.ts";
import { makeWork } from "./worker.ts";

export interface Backfills {
  /** Keeps what an application declares. */
  declare(definitions: readonly BackfillDefinition[]): Promise<void>;
  /** The worker of a declared backfill, for whoever runs it. */
  workerOf(definition: BackfillDefinition): WorkerDefinition;
  list(): Promise<BackfillReport[]>;
  /** Plans a run; a scope has one at a time. Errors: TUNTAS_BACKFILL_MISSING, TUNTAS_BACKFILL_SCOPE. */
  plan(name: string, scope: unknown, act: Act): Promise<Planned>;
  /** The newest first. */
  runs(filter?: Omit<runs.RunFilter, "id">): Promise<RunReport[]>;
  /** Errors: TUNTAS_BACKFILL_MISSING. */
  run(id: string): Promise<RunReport>;
  /** Those that are open first. Errors: TUNTAS_BACKFILL_MISSING. */
  partitions(id: string, limit?: number): Promise<BackfillPartitionReport[]>;
  /** Records that could not be handled, the first thousand. Errors: TUNTAS_BACKFILL_MISSING. */
  failures(id: string, limit?: number): Promise<FailedRecord[]>;
  /**
   * Errors: TUNTAS_BACKFILL_MISSING; TUNTAS_BACKFILL_STATE where there is no such move; TUNTAS_BACKFILL_FOUR_EYES and
   * TUNTAS_BACKFILL_SAMPLE at an approval; TUNTAS_BACKFILL_BUSY at a start; TUNTAS_BACKFILL_ROLLBACK.
   */
  say(verb: Exclude<RunVerb, "rate">, id: string, act: Act): Promise<RunReport>;
  /** Records a second from now on, up to what is declared. Errors: TUNTAS_BACKFILL_RATE, _MISSING, _STATE. */
  setRate(id: string, perSecond: number, act: Act): Promise<RunReport>;
  /** Resolves once nothing happens to the run by itself any more, unless its window opens; or at the abort. */
  settled(id: string, signal?: AbortSignal): Promise<RunReport>;
  /** Pauses and resumes now what a window closes and opens, instead of at the next beat. */
  sweep(): Promise<void>;
}

export interface BackfillRoom {
  readonly backfills: Backfills;
  /** What it asks at each beat. */
  readonly agenda: readonly Agendum[];
  /** Once a while: runs that are over for long. */
  tidy(): Promise<void>;
  close(): Promise<void>;
}

interface RoomOptions {
  readonly database: Sql;
  readonly waker: Waker;
  /** Queues as a target, which takes the messages of steps in the transaction that they belong to. */
  readonly queues: JoiningTarget;
  /** Takes back, in the transaction, messages of steps that nobody has received. */
  readonly withdraw: Withdraw;
  readonly onError: (cause: unknown) => void;
}

/** Whoever waits for a run listens for this. */
const changed = "backfill";
const lookAgainMs = 1000;

const missing = (what: string, details: { readonly name?: string } = {}) =>
  backfillErrors.error("TUNTAS_BACKFILL_MISSING", `there is no ${what}`, { details });

function textOf(name: string, scope: unknown): string {
  const text = JSON.stringify(scope) as string | undefined;
  if (text !== undefined && isStorable(text)) return text;
  throw backfillErrors.error(
    "TUNTAS_BACKFILL_SCOPE",
    `backfill ${name}: expected a scope as JSON that text can hold`,
  );
}

function checkApproval({ id, actor, sample }: RunRow, { by }: Act, { policy }: BackfillReport): void {
  if (by === actor)
    throw backfillErrors.error("TUNTAS_BACKFILL_FOUR_EYES", `run ${id} was planned by ${actor}`);
  const found = JSON.parse(sample!) as Sample;
  if (shareOf(found) > policy.errorShare)
    throw backfillErrors.error(
      "TUNTAS_BACKFILL_SAMPLE",
      `run ${id}: ${found.failed} of ${found.handled + found.failed} records of the dry run failed`,
    );
}

export function openBackfills({ database, waker, queues, withdraw, onError }: RoomOptions): BackfillRoom {
  const send = makeSend<Step>(queues, bodyOf);
  const due = makeDueClock({
    async move() {
      for (const { id, state } of await runs.readToTurn(database))
        await turnByWindow(id, state === "running").catch((cause: unknown) => {
          // Another run of the backfill was faster.
          if (!isUniqueViolation(cause)) onError(cause);
        });
      return null;
    },
    onError,
  });
  const nudge = () => due.note(0);
  const news = makeNews(() => waker.wake(changed));
  const workerOf = makeWork({ database, send, afterCommit: news.afterCommit, nudge });

  /** Sends what is open of it; false where nothing is. */
  async function sendOpen(tx: Tx, { id, backfill }: RunRow): Promise<boolean> {
    const claims = await partitions.sendPartitions(tx, id);
    const ordered = claims.toSorted((a, b) => a.number - b.number);
    await send(
      tx,
      queueNameOf(backfill),
      ordered.map((claim) => ({ ...claim, step: "slice" })),
    );
    return claims.length > 0;
  }

  async function sendStep(
    tx: Tx,
    { id, backfill }: RunRow,
    step: "plan" | "sample" | "verify",
    turn: number,
  ) {
    await send(tx, queueNameOf(backfill), [{ step, run: id, turn }]);
  }

  /** They would end by themselves, once somebody receives them; until then they are the age and the depth of the queue. */
  const takeBack = (tx: Tx, { id, backfill }: RunRow) => withdraw(tx, queueNameOf(backfill), beginningOf(id));

  /** Lets its partitions go on, or verifies it where none is left. */
  async function goOn(tx: Tx, run: RunRow, act?: Act): Promise<Move> {
    const isOpen = await partitions.hasOpen(tx, run.id);
    const move: Move = { to: isOpen ? "running" : "verifying" };
    const turn = (await moveOn(tx, run, move, act))!;
    if (isOpen) await sendOpen(tx, run);
    else await sendStep(tx, run, "verify", turn);
    return move;
  }

  /** From its checkpoint back to its beginning. */
  async function rollBack(tx: Tx, run: RunRow, act: Act): Promise<Move> {
    const { policy } = (await backfills.readBackfills(tx, run.backfill))[0]!;
    if (!policy.undo)
      throw backfillErrors.error(
        "TUNTAS_BACKFILL_ROLLBACK",
        `run ${run.id}: there is no undo; the plan is: ${policy.rollback}`,
      );
    const turn = (await moveOn(tx, run, { to: "rolling_back" }, act))!;
    await runs.beginUndo(tx, run.id);
    await partitions.reopenPartitions(tx, run.id);
    if (await sendOpen(tx, run)) return { to: "rolling_back" };
    await moveOn(tx, { ...run, state: "rolling_back", turn }, { to: "rolled_back" });
    return { to: "rolled_back" };
  }

  async function turnByWindow(id: string, isOver: boolean): Promise<void> {
    const move = await database.transaction(async (tx): Promise<Move | undefined> => {
      if (!isOver) await partitions.lockPartitions(tx, id);
      const run = await runs.lockRun(tx, id);
      if (!isOver) return run?.state === "paused" ? goOn(tx, run) : undefined;
      if (run?.state !== "running") return undefined;
      const paused: Move = { to: "paused", pause: "window" };
      await moveOn(tx, run, paused);
      await takeBack(tx, run);
      return paused;
    });
    if (!move) return;
    tellMove((await report(id)).backfill, id, move);
    waker.wake(changed);
  }

  async function report(id: string): Promise<RunReport> {
    const [found] = /^\d{1,18}$/.test(id) ? await runs.readRuns(database, { id }) : [];
    if (found) return found;
    throw missing(`run ${JSON.stringify(id)}`);
  }

  async function plan(name: string, scope: unknown, { by, reason }: Act): Promise<Planned> {
    const text = textOf(name, scope);
    const scopeHash = requestHash(scope);
    const made = await database.transaction(async (tx) => {
      if ((await backfills.readBackfills(tx, name)).length === 0)
        throw missing(`backfill ${JSON.stringify(name)}`, { name });
      const id = await runs.insertRun(tx, { backfill: name, scope: text, scopeHash, by, reason });
      if (id === undefined) return undefined;
      await send(tx, queueNameOf(name), [{ step: "plan", run: id, turn: 0 }]);
      const details = { backfill: name, scope };
      await writeAudit(tx, { actor: by, action: "backfill.plan", subject: `run ${id}`, reason, details });
      return id;
    });
    if (made !== undefined) return { status: "created", runId: made };
    const open = await runs.findOpen(database, name, scopeHash);
    return open === undefined ? plan(name, scope, { by, reason }) : { status: "duplicate", runId: open };
  }

  /** What a verb does, to a run that is locked. */
  async function carryOut(tx: Tx, verb: RunVerb, run: RunRow, act: Act): Promise<Move> {
    if (verb === "start" || verb === "resume") return goOn(tx, run, act);
    if (verb === "rollback") return rollBack(tx, run, act);
    if (verb === "approve") {
      checkApproval(run, act, (await backfills.readBackfills(tx, run.backfill))[0]!);
      await runs.writeApproval(tx, run.id, act.by);
    }
    if (verb === "verify" && (await partitions.hasOpen(tx, run.id)))
      throw backfillErrors.error(
        "TUNTAS_BACKFILL_STATE",
        `run ${run.id} has partitions that are not through`,
      );
    const move: Move = { to: verbs[verb].to!, ...(verb === "pause" && { pause: "person" }) };
    const turn = (await moveOn(tx, run, move, act))!;
    if (verb === "pause" || verb === "abort") await takeBack(tx, run);
    if (verb === "dry-run") await sendStep(tx, run, "sample", turn);
    if (verb === "verify") await sendStep(tx, run, "verify", turn);
    return move;
  }

  async function locked<T>(verb: RunVerb, id: string, work: (tx: Tx, run: RunRow) => Promise<T>): Promise<T> {
    await report(id);
    return database.transaction(async (tx) => {
      // A slice holds its partition, then the run; what does not move partitions waits for none.
      if (["start", "resume", "rollback"].includes(verb)) await partitions.lockPartitions(tx, id);
      const run = (await runs.lockRun(tx, id))!;
      if (canSay(verb, run.state)) return work(tx, run);
      throw backfillErrors.error("TUNTAS_BACKFILL_STATE", `run ${id} is ${run.state}: it cannot ${verb}`);
    });
  }

  const busy = (id: string, cause: unknown) =>
    backfillErrors.error("TUNTAS_BACKFILL_BUSY", `run ${id}: another run of its backfill is running`, {
      cause,
    });

  async function say(verb: Exclude<RunVerb, "rate">, id: string, act: Act): Promise<RunReport> {
    const move = await locked(verb, id, (tx, run) => carryOut(tx, verb, run, act)).catch((cause: unknown) => {
      throw isUniqueViolation(cause) ? busy(id, cause) : cause;
    });
    const after = await report(id);
    tellMove(after.backfill, id, move);
    waker.wake(changed);
    return after;
  }

  async function setRate(id: string, perSecond: number, { by, reason }: Act): Promise<RunReport> {
    const refuse = () =>
      backfillErrors.error(
        "TUNTAS_BACKFILL_RATE",
        `run ${id}: expected a rate it may have, got ${perSecond}`,
      );
    if (!Number.isInteger(perSecond) || perSecond < 1) throw refuse();
    await locked("rate", id, async (tx) => {
      if (!(await runs.setRate(tx, id, perSecond))) throw refuse();
      const details = { perSecond };
      await writeAudit(tx, { actor: by, action: "backfill.rate", subject: `run ${id}`, reason, details });
    });
    return report(id);
  }

  async function settled(id: string, signal?: AbortSignal): Promise<RunReport> {
    const bell = makeBell(waker, changed);
    try {
      for (;;) {
        const found = await report(id);
        if (isSettled(found.state) || signal?.aborted) return found;
        await bell.wait(lookAgainMs, signal);
      }
    } finally {
      bell.close();
    }
  }

  return {
    backfills: {
      async declare(definitions) {
        for (const each of definitions) await backfills.keepBackfill(database, settingsOf(each));
      },
      workerOf,
      list: () => backfills.readBackfills(database, null),
      plan,
      runs: (filter = {}) => runs.readRuns(database, filter),
      run: report,
      async partitions(id, limit = 10_000) {
        await report(id);
        return partitions.readPartitions(database, id, limit);
      },
      async failures(id, limit = 1000) {
        await report(id);
        return runs.readFailures(database, id, limit);
      },
      say,
      setRate,
      settled,
      sweep: due.sweep,
    },
    agenda: [workAgendum(runs.runsToTurn, nudge)],
    tidy: async () => void (await runs.forgetRuns(database)),
    async close() {
      news.close();
      await due.close();
    },
  };
}

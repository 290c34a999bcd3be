// The asking side: what is declared, jobs started, and what a person can say to one; and the room as the platform holds it.
import { writeAudit } from "../engine/audit.ts";
import { workAgendum, type Agendum } from "../engine/agenda.ts";
import { makeDueClock } from "../engine/due.ts";
import type { Destination } from "../engine/destination.ts";
import type { JoiningTarget } from "../engine/target.ts";
import { keepsBack } from "../engine/handler/replay.ts";
import { makeBell, type Waker } from "../engine/wake.ts";
import { isStorable } from "../core/text.ts";
import { requestHash } from "../ledger/index.ts";
import type { Tx } from "../pg/contract.ts";
import type { Database } from "../pg/database.ts";
import { join } from "../pg/join.ts";
import type { Withdraw } from "../queue/client/target.ts";
import type { WorkerDefinition } from "../queue/declaration.ts";
import {
  batchErrors,
  type Act,
  type BatchDefinition,
  type BatchReport,
  type JobReport,
  type PartitionReport,
  type Started,
  type StartOptions,
  type Verb,
} from "./contract.ts";
import { queueNameOf, settingsOf } from "./declaration.ts";
import { batchDestination, batchTarget } from "./destination.ts";
import { moveOn } from "./ending.ts";
import { makeNews } from "./news.ts";
import { makeRunningJobs } from "./running.ts";
import { batchSignals } from "./signals.ts";
import { after, isSettled } from "./state.ts";
import { beginningOf, bodyOf, type Step } from "./step.ts";
import * as batches from "./store/batches.ts";
import * as jobs from "./store/jobs.ts";
import * as partitions from "./store/partitions.ts";
import { makeSend } from "./send.ts";
import { makeTurn } from "./turn.ts";
import { makeWork } from "./worker.ts";

export interface Batches {
  /** Keeps what an application declares. */
  declare(definitions: readonly BatchDefinition[]): Promise<void>;
  /** The worker of a declared batch, for whoever runs it. */
  workerOf(definition: BatchDefinition): WorkerDefinition;
  list(): Promise<BatchReport[]>;
  /** Starts a job, by the name of its batch. Errors: TUNTAS_BATCH_MISSING, TUNTAS_BATCH_INPUT. */
  start(name: string, input: unknown, options?: StartOptions): Promise<Started>;
  /** The newest first. */
  jobs(filter?: Omit<jobs.JobFilter, "id">): Promise<JobReport[]>;
  /** Errors: TUNTAS_BATCH_MISSING. */
  job(id: string): Promise<JobReport>;
  /** In the order of the plan. Errors: TUNTAS_BATCH_MISSING. */
  partitions(id: string, filter?: partitions.PartitionFilter): Promise<PartitionReport[]>;
  /**
   * `pause`: nothing more is begun, what runs ends. `resume`: it waits for its turn again. `retry`: what failed is tried
   * again, and nothing else. `cancel`: what runs is aborted, nothing is promoted. Errors: TUNTAS_BATCH_MISSING, TUNTAS_BATCH_STATE.
   */
  say(verb: Verb, id: string, act: Act): Promise<JobReport>;
  /** Resolves once nothing happens to the job by itself any more: completed, failed, paused or cancelled; or at the abort. */
  settled(id: string, signal?: AbortSignal): Promise<JobReport>;
  /** Moves now what may be begun or promoted, instead of at the next beat, and cleans up what is to go. */
  sweep(): Promise<void>;
}

export interface BatchRoom {
  readonly batches: Batches;
  /** Where schedules begin jobs, and where announcements do. */
  readonly destination: Destination;
  readonly target: JoiningTarget;
  /** What it asks at each beat. */
  readonly agenda: readonly Agendum[];
  /** Once a while: staged rows and jobs that are beyond their time. */
  tidy(): Promise<void>;
  close(): Promise<void>;
}

export interface BatchRoomOptions {
  readonly database: Database;
  readonly waker: Waker;
  /** Queues as a target, which takes the messages of steps in the transaction that they belong to. */
  readonly queues: JoiningTarget;
  readonly withdraw: Withdraw;
  readonly onError: (cause: unknown) => void;
}

/** Whoever waits for a job listens for this. */
const changed = "batch";
const lookAgainMs = 1000;

const missing = (what: string, details: { readonly name?: string } = {}) =>
  batchErrors.error("TUNTAS_BATCH_MISSING", `there is no ${what}`, { details });

function textOf(name: string, input: unknown): string {
  const text = JSON.stringify(input) as string | undefined;
  if (text !== undefined && isStorable(text)) return text;
  throw batchErrors.error("TUNTAS_BATCH_INPUT", `batch ${name}: expected JSON that text can hold`);
}

export function openBatches({ database, waker, queues, withdraw, onError }: BatchRoomOptions): BatchRoom {
  const send = makeSend<Step>(queues, bodyOf);
  const turn = makeTurn(database, send);
  const running = makeRunningJobs();

  const due = makeDueClock({
    async move() {
      // One that fails, since its queue is gone, say, does not keep the others back.
      for (const name of await batches.batchesToMove(database)) await turn(name).catch(onError);
      waker.wake(changed);
      return null;
    },
    onError,
  });
  const nudge = () => due.note(0);
  // Of many partitions that end within a moment one look sees all.
  const news = makeNews(() => due.note(20));
  const workerOf = makeWork({ database, running, afterCommit: news.afterCommit, nudge });

  async function startIn(tx: Tx, name: string, input: unknown, options: StartOptions): Promise<Started> {
    const batch = await batches.findBatch(tx, name);
    if (!batch) throw missing(`batch ${JSON.stringify(name)}`, { name });
    const inputHash = requestHash(input);
    const { key = inputHash, by = "application", reason = "started by code" } = options;
    const priority = options.priority ?? batch.priority;
    const of = { batch: name, key, input: textOf(name, input), inputHash, priority, by, reason };
    const id = await jobs.insertJob(tx, of);
    if (id !== undefined) {
      await send(tx, queueNameOf(name), [{ job: id, step: "plan", run: 0 }]);
      await writeAudit(tx, {
        actor: by,
        action: "batch.start",
        subject: `job ${id}`,
        reason,
        details: { batch: name, key },
      });
      return { status: "created", jobId: id };
    }
    const known = await jobs.findByKey(tx, name, key);
    // It was cancelled in between, so that the key is free.
    if (!known) return startIn(tx, name, input, options);
    return { status: known.inputHash === inputHash ? "duplicate" : "conflict", jobId: known.id };
  }

  async function start(name: string, input: unknown, options: StartOptions = {}): Promise<Started> {
    if (keepsBack()) return { status: "suppressed", jobId: "" };
    const { tx } = options;
    if (tx) return startIn({ ...join(tx), client: tx }, name, input, options);
    return database.transaction((own) => startIn(own, name, input, options));
  }

  async function job(id: string): Promise<JobReport> {
    const [found] = /^\d{1,18}$/.test(id) ? await jobs.readJobs(database, { id }) : [];
    if (found) return found;
    throw missing(`job ${JSON.stringify(id)}`);
  }

  /** What a verb does beside moving the job. */
  async function carryOut(tx: Tx, verb: Verb, of: jobs.JobRow): Promise<void> {
    if (verb === "retry") {
      await partitions.retryPartitions(tx, of.id);
      if (of.planHash !== null) return void (await moveOn(tx, of, "waiting"));
      const run = (await moveOn(tx, of, "planning"))!;
      return send(tx, queueNameOf(of.batch), [{ job: of.id, step: "plan", run }]);
    }
    await moveOn(tx, of, after(verb, of.state)!);
    // They would end by themselves, once somebody receives them; until then they are the age and the depth of the queue.
    if (verb !== "resume") await withdraw(tx, queueNameOf(of.batch), beginningOf(of.id));
    if (verb === "cancel") await partitions.cancelPartitions(tx, of.id);
  }

  async function say(verb: Verb, id: string, { by, reason }: Act): Promise<JobReport> {
    const { batch } = await job(id);
    await database.transaction(async (tx) => {
      await batches.lockBatch(tx, batch);
      const of = (await jobs.lockJob(tx, id))!;
      if (after(verb, of.state) === undefined)
        throw batchErrors.error("TUNTAS_BATCH_STATE", `job ${id} is ${of.state}: it cannot ${verb}`);
      await carryOut(tx, verb, of);
      const details = { batch, from: of.state };
      await writeAudit(tx, { actor: by, action: `batch.${verb}`, subject: `job ${id}`, reason, details });
    });
    if (verb === "cancel") {
      running.cancel(id);
      batchSignals.publish("batch.cancelled", { batch, jobId: id, by });
    }
    waker.wake(changed);
    nudge();
    return job(id);
  }

  async function settled(id: string, signal?: AbortSignal): Promise<JobReport> {
    const bell = makeBell(waker, changed);
    try {
      for (;;) {
        const found = await job(id);
        if (isSettled(found.state) || signal?.aborted) return found;
        await bell.wait(lookAgainMs, signal);
      }
    } finally {
      bell.close();
    }
  }

  async function tidy(): Promise<void> {
    for (const each of await batches.readCleanable(database))
      await database.transaction((tx) => batches.cleanStaging(tx, each)).catch(onError);
    await batches.forgetJobs(database);
  }

  return {
    batches: {
      async declare(definitions) {
        for (const definition of definitions) await batches.keepBatch(database, settingsOf(definition));
      },
      workerOf,
      list: () => batches.readBatches(database, null),
      start,
      jobs: (filter = {}) => jobs.readJobs(database, filter),
      job,
      async partitions(id, filter = {}) {
        await job(id);
        return partitions.readPartitions(database, id, filter);
      },
      say,
      settled,
      async sweep() {
        await due.sweep();
        await tidy();
      },
    },
    destination: batchDestination(startIn),
    target: batchTarget(startIn),
    agenda: [
      workAgendum(batches.jobsToMove, nudge),
      {
        ask: jobs.cancelledOf,
        given: { type: "bigint[]", read: running.ids },
        hear: (answer) => (answer as string | null)?.split(",").forEach(running.cancel),
      },
    ],
    tidy,
    async close() {
      news.close();
      await due.close();
    },
  };
}

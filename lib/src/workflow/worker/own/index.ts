// The own tasks of this process: which handlers it has, what runs, and how it takes more. A process takes no more
// executions than its concurrency; what is beyond that stays for whoever has room, here or elsewhere.
import type { StartTask } from "../../../asl/contract.ts";
import type { Log } from "../../../engine/log.ts";
import type { Waker } from "../../../engine/wake.ts";
import type { Database } from "../../../pg/database.ts";
import type { MachineRecord } from "../../contract.ts";
import type { WorkflowDefinition } from "../../declaration.ts";
import { functionOf } from "../../definition/functions.ts";
import { branchOf, taskKey } from "../../state.ts";
import { extendHeartbeat, type Call } from "../../store/calls.ts";
import { listHandlers } from "../../store/machines.ts";
import { claimOwn, giveBackOwn, releaseOwn } from "../../store/own.ts";
import type { Engine, Held, Own } from "../engine.ts";
import { awaitedTask } from "./again.ts";
import { Attempt, type AttemptDeps } from "./attempt.ts";
import { makeStepWriter } from "./commits.ts";

export interface OwnRuns extends Own {
  /** From now on this process carries out the workflow's tasks. Answers what ends that. */
  register(workflow: WorkflowDefinition, machine: MachineRecord): Promise<() => void>;
  begin(held: Held, task: StartTask): void;
  /** Goes on with a row that this process has, but nobody here carries out. */
  resume(call: Call): Promise<void>;
  cancel(executionId: string, key: string): void;
  cancelAll(executionId: string): void;
  /** What runs here, by execution and key. */
  running(): { readonly executionId: string; readonly key: string }[];
  /** Looks for tasks that nobody has. */
  look(): void;
  /** Drops everything: it belongs to other processes now. */
  abandon(): void;
  /** No more new tasks; what runs may finish until the signal aborts, the rest is left to others. */
  drain(hurry: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface OwnOptions {
  readonly database: Database;
  readonly engine: () => Engine;
  readonly log: Log;
  readonly waker: Waker;
  readonly processId: () => string;
  readonly tokenOf: (reference: string) => string;
  /** Tells the other processes, soon, that there are tasks of the revision. */
  readonly announce: (revision: string) => void;
  readonly onNextDue: (inMs: number) => void;
  readonly onError: (cause: unknown) => void;
}

export const ownKey = "own";

export const concurrencyDefault = 500;
const claimMax = 250;
/** A notification that was lost costs this long. */
const lookAgainMs = 5000;
/** The result of a short step implies its start; that of a long one is written down, for whoever looks meanwhile. */
const lastingMs = 500;

interface Registered {
  readonly workflow: WorkflowDefinition;
  readonly concurrency: number;
  running: number;
  /** Places kept for tasks whose beginning is not written yet. */
  kept: number;
}

export function makeOwnRuns(options: OwnOptions): OwnRuns {
  const { database, log, waker, processId, onError } = options;
  const writer = makeStepWriter(database);
  const byRevision = new Map<string, Registered>();
  const attempts = new Map<string, Map<string, Attempt>>();
  let hungry = false;
  let looking = false;
  let closed = false;
  let ticker: NodeJS.Timeout | undefined;

  const holds = (executionId: string, key: string): boolean => attempts.get(executionId)?.has(key) ?? false;

  const takes: Own["takes"] = (revision, executionId, key) => {
    const known = byRevision.get(revision);
    if (closed || !known) return false;
    const fits = hasRoom(known) || (executionId !== undefined && holds(executionId, key!));
    if (fits) known.kept++;
    return fits;
  };

  async function during<T>(revision: string, places: number, write: () => Promise<T>): Promise<T> {
    if (places === 0) return write();
    const known = byRevision.get(revision);
    try {
      return await write();
    } finally {
      // What begins is counted as running from now on: it begins before anybody else can ask.
      if (known) known.kept -= places;
    }
  }

  const hasRoom = ({ running, kept, concurrency }: Registered): boolean => running + kept < concurrency;

  const definitionOf = (held: Held, { resource, input }: StartTask) =>
    byRevision.get(held.revision)?.workflow.tasks.get(functionOf(resource, input) ?? "");

  const deps: AttemptDeps = {
    database,
    writer,
    log,
    tokenOf: options.tokenOf,
    dispatch: (executionId, happening, how) => options.engine().dispatch(executionId, happening, how),
    isAwaited,
    beat,
  };

  function begin(held: Held, task: StartTask): void {
    const registered = byRevision.get(held.revision);
    const definition = definitionOf(held, task);
    if (closed || !registered || !definition) return void leave({ executionId: held.id, key: taskKey(task) });
    const key = taskKey(task);
    const attempt = new Attempt(deps, {
      executionId: held.id,
      execution: held.state.execution,
      task,
      definition,
    });
    const own = attempts.get(held.id) ?? new Map<string, Attempt>();
    attempts.set(held.id, own.set(key, attempt));
    registered.running++;
    watch(attempt);
    void attempt.ended.then(() => finish(held.id, key, { attempt, registered }));
  }

  function finish(
    executionId: string,
    key: string,
    { attempt, registered }: { attempt: Attempt; registered: Registered },
  ): void {
    registered.running--;
    const own = attempts.get(executionId);
    if (own?.get(key) === attempt) own.delete(key);
    if (own?.size === 0) attempts.delete(executionId);
    if (hungry && registered.running <= registered.concurrency / 2) look();
  }

  async function isAwaited(executionId: string, task: number): Promise<boolean> {
    const held = await options.engine().load(executionId);
    return held !== undefined && branchOf(held.state, task) !== undefined;
  }

  const leave = (call: Pick<Call, "executionId" | "key">): Promise<unknown> =>
    releaseOwn(database, call, processId()).catch(onError);

  const beats = new Map<string, number>();

  /** At most four times in the time that a heartbeat has. */
  function beat(executionId: string, { task, heartbeatSeconds }: StartTask): void {
    if (heartbeatSeconds === undefined) return;
    const name = `${executionId}/${task}`;
    const now = performance.now();
    if ((beats.get(name) ?? 0) > now - heartbeatSeconds * 250) return;
    beats.set(name, now);
    extendHeartbeat(database, { executionId, task, seconds: heartbeatSeconds }).catch(onError);
    options.onNextDue(heartbeatSeconds * 1000);
  }

  async function resume(call: Call): Promise<void> {
    const held = await options.engine().load(call.executionId);
    if (!held || closed || attempts.get(call.executionId)?.has(call.key)) return;
    const task = await awaitedTask(database, held, call);
    if (task) begin(held, task);
  }

  function roomOf(): { pools: string[]; limit: number } {
    const open = [...byRevision].filter(([, registered]) => hasRoom(registered));
    const rooms = open.map(([, { concurrency, running, kept }]) => concurrency - running - kept);
    return { pools: open.map(([revision]) => revision), limit: Math.min(claimMax, ...rooms) };
  }

  async function claimAll(): Promise<void> {
    for (;;) {
      const { pools, limit } = roomOf();
      if (closed || pools.length === 0) return;
      hungry = false;
      const calls = await claimOwn(database, pools, { owner: processId(), limit });
      if (calls.length > 0) hungry = true;
      await Promise.all(
        calls.map((call) =>
          resume(call).catch((cause: unknown) => {
            onError(cause);
            return leave(call);
          }),
        ),
      );
      if (calls.length < limit) return;
    }
  }

  function look(): void {
    hungry = true;
    if (looking || closed) return;
    looking = true;
    claimAll()
      .catch(onError)
      .finally(() => (looking = false));
  }

  /** Most attempts are over long before their time: only short ones have a timer of their own, the rest is looked over. */
  function watch(attempt: Attempt): void {
    const leftMs = attempt.deadlineMs - attempt.begunAtMs;
    if (leftMs < 10 * lastingMs) {
      const timer = setTimeout(() => attempt.expire(), leftMs);
      void attempt.ended.then(() => clearTimeout(timer));
    }
    ticker ??= setInterval(lookOver, lastingMs).unref();
  }

  /** Notes the start of what takes long, and ends what takes too long; runs only while anything does. */
  function lookOver(): void {
    if (attempts.size === 0) {
      clearInterval(ticker);
      ticker = undefined;
      return;
    }
    const nowMs = performance.now();
    for (const [executionId, own] of attempts)
      for (const attempt of own.values()) {
        if (attempt.deadlineMs < nowMs) attempt.expire();
        else if (!attempt.noted && attempt.begunAtMs < nowMs - lastingMs) note(executionId, attempt);
      }
  }

  function note(executionId: string, attempt: Attempt): void {
    attempt.noted = true;
    options
      .engine()
      .dispatch(executionId, { type: "taskStarted", task: attempt.job.task.task })
      .catch(onError);
  }

  const all = (): Attempt[] => [...attempts.values()].flatMap((own) => Array.from(own.values()));

  function abandonAll(reason: string): void {
    for (const attempt of all()) attempt.abandon(reason);
  }

  const unsubscribe = waker.subscribe(ownKey, look);
  const lookAgain = setInterval(() => void (byRevision.size > 0 && look()), lookAgainMs);
  lookAgain.unref();

  async function drain(hurry: AbortSignal): Promise<void> {
    closed = true;
    const hurried = new Promise<void>((resolve) => {
      if (hurry.aborted) resolve();
      hurry.addEventListener("abort", () => resolve(), { once: true });
    });
    await Promise.race([Promise.all(all().map((attempt) => attempt.ended)), hurried]);
    const left = all();
    abandonAll("the process stops");
    await Promise.all(left.map((attempt) => attempt.ended));
    await writer.idle();
    if (byRevision.size > 0) await giveBackOwn(database, processId()).catch(onError);
    for (const revision of byRevision.keys()) options.announce(revision);
    byRevision.clear();
    closed = false;
  }

  return {
    takes,
    during,
    holds,
    offer(revision) {
      if (byRevision.has(revision)) look();
      options.announce(revision);
    },
    async register(workflow, machine) {
      const names = new Set(workflow.tasks.keys());
      const registered = {
        workflow,
        concurrency: workflow.options.concurrency ?? concurrencyDefault,
        running: 0,
        kept: 0,
      };
      const known = await listHandlers(database, machine.id);
      const covered = known.filter(({ handlers }) => handlers.every((name) => names.has(name)));
      for (const { revision } of covered) byRevision.set(revision, registered);
      look();
      return () => covered.forEach(({ revision }) => byRevision.delete(revision));
    },
    begin,
    resume,
    cancel: (executionId, key) => attempts.get(executionId)?.get(key)?.abandon("cancelled"),
    cancelAll: (executionId) => attempts.get(executionId)?.forEach((attempt) => attempt.abandon("cancelled")),
    running: () =>
      [...attempts].flatMap(([executionId, own]) => [...own.keys()].map((key) => ({ executionId, key }))),
    look,
    abandon: () => abandonAll("lost"),
    drain,
    async close() {
      clearInterval(lookAgain);
      clearInterval(ticker);
      unsubscribe();
      closed = true;
      const left = all();
      abandonAll("closed");
      await Promise.all(left.map((attempt) => attempt.ended));
    },
  };
}

// The own tasks of this process: which handlers it has, what runs, and how it takes more. A process takes no more
// executions than its concurrency; what is beyond that stays for whoever has room, here or elsewhere.
import type { StartTask } from "../../../asl/contract.ts";
import { makeEase, type OnBeat } from "../../../engine/handler/ease.ts";
import type { Log } from "../../../engine/log.ts";
import type { Waker } from "../../../engine/wake.ts";
import type { Database } from "../../../pg/database.ts";
import type { MachineRecord } from "../../contract.ts";
import type { WorkflowDefinition } from "../../declaration.ts";
import { functionOf } from "../../definition/functions.ts";
import { workflowSignals } from "../../signals.ts";
import { branchOf, taskKey } from "../../state.ts";
import { extendHeartbeat, type Call } from "../../store/calls.ts";
import { listHandlers } from "../../store/machines.ts";
import { claimOwn, giveBackOwn, releaseOwn } from "../../store/own.ts";
import type { Engine, Held, Own } from "../engine/index.ts";
import { awaitedTask } from "./again.ts";
import { Attempt, type AttemptDeps } from "./attempt.ts";
import { makeClaims } from "./claims.ts";
import { makeStepWriter } from "./commits.ts";
import { concurrencyDefault, isRoomy, makePlaces, type Place } from "./places.ts";
import { makeWatch } from "./watch.ts";

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
  /** The revisions whose tasks are carried out here. */
  pools(): string[];
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
  readonly onBeat: OnBeat;
  readonly tokenOf: (reference: string) => string;
  /** Tells the other processes, soon, that there are tasks of the revision. */
  readonly announce: (revision: string) => void;
  readonly onNextDue: (inMs: number) => void;
  readonly onError: (cause: unknown) => void;
}

export const ownKey = "own";

const claimMax = 250;

/** What runs, by execution and key. */
type Running = Map<string, Map<string, Attempt>>;

/** What an attempt needs of its surroundings. */
function makeDeps(options: OwnOptions): AttemptDeps {
  const { database, log, tokenOf, engine, onError, onNextDue } = options;
  return {
    database,
    writer: makeStepWriter(database),
    log,
    tokenOf,
    dispatch: (executionId, happening, how) => engine().dispatch(executionId, happening, how),
    async isAwaited(executionId, task) {
      const held = await engine().load(executionId);
      return held !== undefined && branchOf(held.state, task) !== undefined;
    },
    beat(executionId, { task, heartbeatSeconds: seconds }) {
      if (seconds === undefined) return;
      extendHeartbeat(database, { executionId, task, seconds }).catch(onError);
      onNextDue(seconds * 1000);
    },
  };
}

export function makeOwnRuns(options: OwnOptions): OwnRuns {
  const { database, waker, processId, onError } = options;
  const deps = makeDeps(options);
  const places = makePlaces();
  const running: Running = new Map();
  let closed = false;

  const holds = (executionId: string, key: string): boolean => running.get(executionId)?.has(key) ?? false;
  const all = (): Attempt[] => [...running.values()].flatMap((own) => Array.from(own.values()));

  const leave = (call: Pick<Call, "executionId" | "key">): Promise<unknown> =>
    releaseOwn(database, call, processId()).catch(onError);

  const watch = makeWatch(({ job }) => {
    const started = { type: "taskStarted", task: job.task.task } as const;
    deps.dispatch(job.executionId, started).catch(onError);
  });

  function begin(held: Held, task: StartTask): void {
    const key = taskKey(task);
    const place = places.of(held.revision);
    const definition = places.taskOf(held.revision, functionOf(task.resource, task.input));
    if (closed || !place || !definition) return void leave({ executionId: held.id, key });
    const { execution } = held.state;
    const attempt = new Attempt(deps, { executionId: held.id, execution, task, definition, line: place });
    const own = running.get(held.id) ?? new Map<string, Attempt>();
    running.set(held.id, own.set(key, attempt));
    place.running++;
    watch.add(attempt);
    void attempt.ended.then(() => finish(key, attempt, place));
  }

  function finish(key: string, attempt: Attempt, place: Place): void {
    const { executionId } = attempt.job;
    place.running--;
    watch.remove(attempt);
    const own = running.get(executionId);
    if (own?.get(key) === attempt) own.delete(key);
    if (own?.size === 0) running.delete(executionId);
    if (isRoomy(place)) claims.freed();
  }

  async function resume(call: Call): Promise<void> {
    const held = await options.engine().load(call.executionId);
    if (!held || closed || holds(call.executionId, call.key)) return;
    const task = await awaitedTask(database, held, call);
    if (task) begin(held, task);
  }

  const claims = makeClaims({
    waker,
    key: ownKey,
    room: () => (closed ? { pools: [], limit: 0 } : places.room(claimMax)),
    claim: (pools, limit) => claimOwn(database, pools, { owner: processId(), limit }),
    begin: (call) =>
      resume(call).catch((cause: unknown) => {
        onError(cause);
        return leave(call);
      }),
    onError,
  });

  const easeOf = ({ name, options: { concurrency = concurrencyDefault, slowAbove } }: WorkflowDefinition) =>
    makeEase({
      concurrency,
      slowAbove,
      onBeat: options.onBeat,
      tell: (what, fields) => workflowSignals.publish(`workflow.${what}`, { workflow: name, ...fields }),
      changed: () => claims.look(),
    });

  async function abandonAll(reason: string): Promise<void> {
    const left = all();
    for (const attempt of left) attempt.abandon(reason);
    await Promise.all(left.map((attempt) => attempt.ended));
  }

  async function drain(hurry: AbortSignal): Promise<void> {
    closed = true;
    await Promise.race([Promise.all(all().map((attempt) => attempt.ended)), aborted(hurry)]);
    await abandonAll("the process stops");
    await deps.writer.idle();
    const revisions = places.revisions();
    if (revisions.length > 0) await giveBackOwn(database, processId()).catch(onError);
    revisions.forEach(options.announce);
    places.clear();
    closed = false;
  }

  return {
    takes: (revision, executionId, key) =>
      !closed && places.keep(revision, executionId !== undefined && holds(executionId, key!)),
    free: places.free,
    holds,
    offer(revision) {
      if (places.of(revision)) claims.look();
      options.announce(revision);
    },
    async register(workflow, machine) {
      const known = await listHandlers(database, machine.id);
      const covered = known.filter(({ handlers }) => handlers.every((name) => workflow.tasks.has(name)));
      const revisions = covered.map(({ revision }) => revision);
      const unregister = places.add(revisions, workflow, easeOf(workflow));
      claims.look();
      return unregister;
    },
    begin,
    resume,
    cancel: (executionId, key) => running.get(executionId)?.get(key)?.abandon("cancelled"),
    cancelAll: (executionId) => running.get(executionId)?.forEach((attempt) => attempt.abandon("cancelled")),
    running: () =>
      [...running].flatMap(([executionId, own]) => Array.from(own.keys(), (key) => ({ executionId, key }))),
    look: claims.look,
    pools: places.revisions,
    abandon: () => void abandonAll("lost"),
    drain,
    async close() {
      closed = true;
      claims.close();
      watch.close();
      await abandonAll("closed");
    },
  };
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });

// The doing side: the engine with all that surrounds it. It takes what the clock brings, makes the calls that are
// decided upon, and takes over the calls of processes that died.
import type { Command, ExecutionIdentity, NextOptions, StartTask } from "../../asl/contract.ts";
import type { DueClock } from "../../engine/due.ts";
import { makeDueClock } from "../../engine/due.ts";
import type { Waker } from "../../engine/wake.ts";
import type { Database } from "../../pg/database.ts";
import type { Queues } from "../../queue/client/index.ts";
import type { StartResult, Target } from "../contract.ts";
import { workflowSignals } from "../signals.ts";
import { happeningOf } from "../state.ts";
import * as callStore from "../store/calls.ts";
import { findExecution } from "../store/executions.ts";
import { findActivity } from "../store/resources.ts";
import type { Caller, Calls } from "./calls.ts";
import { makeCalls } from "./calls.ts";
import { makeEngineClock, type EngineClock } from "./clock.ts";
import { makeDefinitions, type Definitions } from "./definitions.ts";
import { makeEndings, type Endings } from "./endings.ts";
import { makeEvaluator } from "./evaluator.ts";
import { makeEngine, type Engine, type Held } from "./engine.ts";
import { makeMapRuns } from "./map-run.ts";
import { makeObjects } from "./objects.ts";
import { makeTasks } from "./tasks/index.ts";
import type { TaskRunner } from "./tasks/task.ts";

export interface WorkerOptions {
  readonly database: Database;
  readonly waker: Waker;
  readonly queues: Queues;
  readonly processId: () => string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly resolve: (machineArn: string) => Promise<Target | undefined>;
  readonly start: (target: Target, name: string, input: string) => Promise<StartResult>;
  /** Tells the other processes, soon, that the activity has a task. */
  readonly announceActivity: (arn: string) => void;
  readonly onError: (cause: unknown) => void;
}

export interface WorkflowWorker {
  readonly engine: Engine;
  readonly calls: Calls;
  readonly clock: EngineClock;
  readonly definitions: Definitions;
  readonly endings: Endings;
  readonly due: DueClock;
  readonly runTask: TaskRunner;
  readonly next: NextOptions;
  /** Goes on with what processes that died were about. */
  takeOver(processIds: readonly string[]): Promise<void>;
  sweepOrphans(): Promise<void>;
  close(): Promise<void>;
}

export const activityKey = (arn: string): string => `activity:${arn}`;

const dueBatch = 500;

export function makeWorkflowWorker(options: WorkerOptions): WorkflowWorker {
  const { database, waker, processId, onError } = options;
  const evaluator = makeEvaluator();
  const nextOptions: NextOptions = { evaluator: evaluator.evaluate };
  const clock = makeEngineClock(database);
  const definitions = makeDefinitions(database);
  const endings = makeEndings(database, onError);
  const due = makeDueClock({ move: takeWhatIsDue, onError });
  const engine = makeEngine({
    database,
    clock,
    definitions,
    processId,
    next: nextOptions,
    carryOut: (held, command) => calls.obey(held.id, callerOf(held), command),
    onNextDue: due.note,
    onEnded: (id) => {
      calls.cancelAll(id);
      endings.tell(id);
    },
  });

  const stop = async (id: string): Promise<void> => void (await engine.dispatch(id, { type: "stopped" }));
  const idOf = async (arn: string) => (await findExecution(database, arn))?.id;
  const runTask = makeTasks({
    queues: options.queues,
    resolve: options.resolve,
    start: options.start,
    idOf,
    waitEnd: endings.wait,
    stop,
    lambdaEndpoint: options.environment.TUNTAS_LAMBDA_ENDPOINT,
    taskEndpoint: options.environment.TUNTAS_TASK_ENDPOINT,
  });
  const calls = makeCalls({
    runTask,
    objects: makeObjects(options.environment.AWS_ENDPOINT_URL_S3),
    onError,
  });
  const runMap = makeMapRuns({
    database,
    nowMs: clock.nowMs,
    begin: engine.begin,
    idOf,
    waitEnd: endings.wait,
    stop,
  });

  async function offer({ resource }: StartTask) {
    if (!(await findActivity(database, resource))) return { error: "ActivityDoesNotExist" };
    waker.wake(activityKey(resource));
    options.announceActivity(resource);
    return undefined;
  }

  const machineIdOf = async ({ id }: ExecutionIdentity): Promise<string> =>
    (await findExecution(database, id))!.machineId;

  function callerOf(held: Held): Caller {
    const { execution } = held.state;
    return {
      execution,
      offer,
      dispatch: (happening, how) => engine.dispatch(held.id, happening, how),
      runMap: async (command, signal) =>
        runMap({ ...held, machineId: await machineIdOf(execution) }, command, signal),
    };
  }

  async function takeWhatIsDue(): Promise<number | null> {
    await clock.read();
    const taken = await callStore.takeDue(database, processId(), dueBatch);
    for (const each of taken) {
      const happening = happeningOf(each.key);
      engine
        .dispatch(each.executionId, happening!)
        .then((result) => (result === "missing" ? callStore.dropDue(database, each) : undefined))
        .catch(onError);
    }
    return taken.length >= dueBatch ? 0 : callStore.nextDueMs(database);
  }

  async function resume({ executionId, command }: callStore.Call): Promise<void> {
    const held = await engine.load(executionId);
    if (held) calls.obey(executionId, callerOf(held), JSON.parse(command) as Command);
  }

  async function takeOver(processIds: readonly string[]): Promise<void> {
    await callStore.returnDue(database, processIds);
    void due.sweep();
    for (;;) {
      const adopted = await callStore.adoptCalls(database, processIds, processId());
      if (adopted.length === 0) return;
      workflowSignals.publish("workflow.taken_over", { count: adopted.length });
      for (const call of adopted) {
        if (call.activity === null) await resume(call);
        else waker.wake(activityKey(call.activity));
      }
    }
  }

  let missed = new Set<string>();

  /** A commit whose answer was lost left calls that nobody began: what is missing twice in a row is begun. */
  async function beginForgotten(): Promise<void> {
    const owned = await callStore.listOwnCalls(database, processId());
    const missing = owned.filter(({ executionId, key }) => !calls.has(executionId, key));
    const nameOf = ({ executionId, key }: callStore.Call) => `${executionId}/${key}`;
    const again = missing.filter((call) => missed.has(nameOf(call)));
    missed = new Set(missing.map(nameOf));
    for (const call of again) await resume(call);
  }

  return {
    engine,
    calls,
    clock,
    definitions,
    endings,
    due,
    runTask,
    next: nextOptions,
    takeOver,
    async sweepOrphans() {
      await beginForgotten();
      const orphans = await callStore.findCallOrphans(database);
      if (orphans.length > 0) await takeOver(orphans);
    },
    async close() {
      await due.close();
      await calls.close();
      await engine.idle();
      await evaluator.close();
      endings.close();
    },
  };
}

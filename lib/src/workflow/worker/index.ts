// The doing side: the engine with all that surrounds it. It takes what the clock brings, makes the calls that are
// decided upon, and takes over the calls of processes that died.
import type { Command, NextOptions, StartTask } from "../../asl/contract.ts";
import type { DueClock } from "../../engine/due.ts";
import type { OnBeat } from "../../engine/handler/ease.ts";
import type { Log } from "../../engine/log.ts";
import type { Waker } from "../../engine/wake.ts";
import type { Database } from "../../pg/database.ts";
import type { Queues } from "../../queue/client/index.ts";
import type { StartResult, Target } from "../contract.ts";
import { findExecution } from "../store/executions.ts";
import { failMapRun, noteResults } from "../store/map-runs.ts";
import { findActivity, readSecret } from "../store/resources.ts";
import { taskKey } from "../state.ts";
import { deriveToken } from "../token.ts";
import type { Caller, Calls } from "./calls.ts";
import { makeCalls } from "./calls.ts";
import { makeEngineClock, type EngineClock } from "./clock.ts";
import { makeDefinitions, type Definitions } from "./definitions.ts";
import { makeDue } from "./due.ts";
import { makeEndings, type Endings } from "./endings.ts";
import { makeEvaluator } from "./evaluator.ts";
import { makeEngine, type Engine, type Held } from "./engine/index.ts";
import { makeMapRuns, mapRunKey, runningMapRuns } from "./map-run.ts";
import { makeObjects } from "./objects.ts";
import { makeOwnRuns, ownKey, type OwnRuns } from "./own/index.ts";
import { makeRetention } from "./retention.ts";
import { begunKey, makeTakeover, tokensIn, type Takeover } from "./takeover.ts";
import { makeTasks } from "./tasks/index.ts";
import type { TaskRunner } from "./tasks/task.ts";

export interface WorkerOptions {
  readonly database: Database;
  readonly waker: Waker;
  readonly queues: Queues;
  readonly processId: () => string;
  readonly onBeat: OnBeat;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly resolve: (machineArn: string) => Promise<Target | undefined>;
  readonly start: (target: Target, name: string, input: string) => Promise<StartResult>;
  /** Tells the other processes, soon, that the activity has a task. */
  readonly announceActivity: (arn: string) => void;
  /** Tells the other processes, soon, that there are tasks for handlers of an application. */
  readonly announceOwn: (revision: string) => void;
  readonly log: Log;
  readonly onError: (cause: unknown) => void;
}

export interface WorkflowWorker extends Takeover {
  readonly engine: Engine;
  readonly calls: Calls;
  readonly clock: EngineClock;
  readonly definitions: Definitions;
  readonly endings: Endings;
  readonly due: DueClock;
  readonly runTask: TaskRunner;
  readonly next: NextOptions;
  readonly own: OwnRuns;
  /** The token that an answer must show, by the reference that is stored. */
  tokenOf(reference: string): string;
  /** The map run was changed: if it runs here it is looked at now, elsewhere within a second. */
  noteMapRun(arn: string): void;
  /** Reads what it must know before it begins: the database's clock, and the secret of the tokens. */
  open(): Promise<void>;
  close(): Promise<void>;
}

const activityPrefix = "activity:";

export const activityKey = (arn: string): string => `${activityPrefix}${arn}`;

/** The activities whose workers sleep until there is a task. */
export const sleepingActivities = (waker: Waker): string[] => waker.asleep(activityPrefix);

export { begunKey, mapRunKey, ownKey, runningMapRuns };

/** Tokens are derived with a secret that is there once the worker is open. */
function makeTokens(database: Database, given: string | undefined) {
  let secret: Buffer | undefined;
  return {
    tokenOf: (reference: string): string => deriveToken(secret!, reference),
    async open(): Promise<void> {
      secret = given ? Buffer.from(given) : await readSecret(database);
    },
  };
}

/** The parts that stand by themselves. */
function makeBase({ database, environment, onError }: WorkerOptions) {
  return {
    evaluator: makeEvaluator(),
    clock: makeEngineClock(database),
    definitions: makeDefinitions(database),
    endings: makeEndings(database, onError),
    tokens: makeTokens(database, environment.TUNTAS_TOKEN_SECRET),
  };
}

type Base = ReturnType<typeof makeBase>;

/** What reaches outside, and the two that know each other: the engine, and the own tasks of this process. */
function makeCore(options: WorkerOptions, base: Base) {
  const { database, processId, onError } = options;
  const { clock, definitions, endings, evaluator, tokens } = base;
  const next: NextOptions = { evaluator: evaluator.evaluate };
  const due: DueClock = makeDue({ database, clock, engine: () => engine, processId, onError });
  const own = makeOwnRuns({
    ...options,
    engine: () => engine,
    tokenOf: tokens.tokenOf,
    announce: options.announceOwn,
    onNextDue: due.note,
  });
  const engine = makeEngine({
    database,
    clock,
    definitions,
    processId,
    own,
    tokenOf: tokens.tokenOf,
    next,
    carryOut: (held, command) => outside.carryOut(held, command),
    onNextDue: due.note,
    onEnded: (id) => {
      outside.calls.cancelAll(id);
      own.cancelAll(id);
      endings.tell(id);
    },
  });
  const outside = makeOutside(options, { ...base, engine, own });
  return { engine, own, due, next, ...outside };
}

interface Inside extends Base {
  readonly engine: Engine;
  readonly own: OwnRuns;
}

/** Calls to the outside, and how the commands of a decision become such. */
function makeOutside(options: WorkerOptions, { engine, own, endings, clock, tokens }: Inside) {
  const { database, waker, environment, onError } = options;
  const stop = async (id: string): Promise<void> => void (await engine.dispatch(id, { type: "stopped" }));
  const idOf = async (arn: string) => (await findExecution(database, arn))?.id;
  const runTask = makeTasks({
    queues: options.queues,
    resolve: options.resolve,
    start: options.start,
    idOf,
    waitEnd: endings.wait,
    stop,
    tokenOf: tokens.tokenOf,
    lambdaEndpoint: environment.TUNTAS_LAMBDA_ENDPOINT,
    taskEndpoint: environment.TUNTAS_TASK_ENDPOINT,
  });
  const calls = makeCalls({ runTask, objects: makeObjects(environment.AWS_ENDPOINT_URL_S3), onError });
  const { nowMs } = clock;
  const mapRuns = makeMapRuns({
    database,
    waker,
    nowMs,
    begin: engine.begin,
    idOf,
    waitEnd: endings.wait,
    stop,
    redrive: async (id) => (await engine.dispatch(id, { type: "redriven" })) === "applied",
  });

  async function offer({ resource }: StartTask) {
    if (!(await findActivity(database, resource))) return { error: "ActivityDoesNotExist" };
    waker.wake(activityKey(resource));
    options.announceActivity(resource);
    return undefined;
  }

  function callerOf(held: Held): Caller {
    const { execution } = held.state;
    return {
      execution,
      offer,
      dispatch: (happening, how) => engine.dispatch(held.id, happening, how),
      async runMap(command, signal) {
        const { machineId } = (await findExecution(database, execution.id))!;
        const parent = { ...held, machineId };
        return command.type === "startMapRun"
          ? mapRuns.run(parent, command, signal)
          : mapRuns.redrive(parent, command, signal);
      },
      noteResults: (number, written) => (written ? noteResults : failMapRun)(database, held.id, number),
    };
  }

  function carryOut(held: Held, command: Command): void {
    const isTask = command.type === "startTask" || command.type === "cancelTask";
    if (!isTask || !command.own) calls.obey(held.id, callerOf(held), command);
    else if (command.type === "cancelTask") own.cancel(held.id, taskKey(command));
    else own.begin(held, command);
  }

  return { runTask, calls, carryOut, mapRuns };
}

export function makeWorkflowWorker(options: WorkerOptions): WorkflowWorker {
  const base = makeBase(options);
  const core = makeCore(options, base);
  const { clock, definitions, endings, evaluator, tokens } = base;
  const { engine, own, due, next, runTask, calls, carryOut, mapRuns } = core;
  const { database, waker, processId } = options;
  const retention = makeRetention(database, options.environment.TUNTAS_WORKFLOW_RETENTION);
  const takeover = makeTakeover({
    database,
    waker,
    engine,
    calls,
    own,
    processId,
    carryOut,
    withTokens: tokensIn(tokens.tokenOf),
    lookAtDue: due.sweep,
    activityKey,
    onError: options.onError,
  });

  return {
    engine,
    own,
    calls,
    clock,
    definitions,
    endings,
    due,
    runTask,
    next,
    tokenOf: tokens.tokenOf,
    noteMapRun: (arn) => waker.wake(mapRunKey(arn)),
    takeOver: takeover.takeOver,
    async sweepOrphans() {
      await takeover.sweepOrphans();
      await mapRuns.endAbandoned();
      await retention.sweep();
    },
    async open() {
      await Promise.all([clock.read(), tokens.open()]);
    },
    async close() {
      await takeover.close();
      await due.close();
      await own.close();
      await calls.close();
      await engine.idle();
      await evaluator.close();
      endings.close();
    },
  };
}

// Advances executions. Any process may advance any execution: seq is the fence, so that of two who decide upon the same
// state one comes through and the other looks again. Within a process an execution's events come one after another,
// and all advances that are ready at the same time share one statement and one commit.
import type { Command, ExecutionState, Happening, NextOptions } from "../../../asl/contract.ts";
import { coalescer } from "../../../core/coalesce.ts";
import type { Sql } from "../../../pg/contract.ts";
import type { Database } from "../../../pg/database.ts";
import { workflowSignals } from "../../signals.ts";
import type { Plan } from "../../state.ts";
import { insertExecutions, type Advance, type NewExecution } from "../../store/advance.ts";
import { makeAdvances } from "./advances.ts";
import type { EngineClock } from "../clock.ts";
import { makeDecisions } from "./decide.ts";
import type { Definitions } from "../definitions.ts";
import { makeHeld, type Held } from "./held.ts";
import { warnHalfway } from "./near-limit.ts";
import { makeTurns } from "./turns.ts";

export type { Held } from "./held.ts";

/**
 * `late`: nobody waits for it any more. `missing`: there is no such execution. `overtaken`: its own transaction met a lost
 * fence and is undone; whoever began it has to look again.
 */
export type Dispatched = "applied" | "late" | "missing" | "overtaken";

export interface DispatchOptions {
  /** The task's work now belongs to somebody outside, who ends it with its token. */
  readonly handedOver?: boolean;
  /** Writes the advance with what else its transaction holds; false where the fence was lost, which undoes all of it. */
  readonly commit?: (advance: Advance) => Promise<boolean>;
  /** Kept with the advance: what a handler came to whose writes are in the same commit. */
  readonly record?: StepRecord;
}

export interface StepRecord {
  readonly visit: string;
  /** JSON text. */
  readonly result: string;
}

export interface NewRun extends Omit<NewExecution, "state" | "events" | "effects" | "ending"> {
  readonly execution: ExecutionState["execution"];
}

export interface Engine {
  dispatch(executionId: string, happening: Happening, options?: DispatchOptions): Promise<Dispatched>;
  /** Decides and writes an execution's beginning; undefined where its ARN is taken. */
  begin(run: NewRun): Promise<string | undefined>;
  /** The same in a transaction of the caller's: what is to be done first is left to whoever hears of its commit. */
  beginIn(tx: Pick<Sql, "run">, run: NewRun): Promise<string | undefined>;
  /** The execution as the database has it. */
  load(executionId: string): Promise<Held | undefined>;
  idle(): Promise<void>;
}

/** Who carries out own tasks in this process. */
export interface Own {
  /** Keeps a place for a task of that revision, if there is room or it follows one that runs here. */
  takes(revision: string, executionId?: string, key?: string): boolean;
  /** What the places were kept for has begun, or came to nothing. */
  free(revision: string, places: number): void;
  /** Whether a task runs here under that key. */
  holds(executionId: string, key: string): boolean;
  /** Tells whoever has the handlers, here and elsewhere, that there are tasks to take. */
  offer(revision: string): void;
}

export interface EngineOptions {
  readonly database: Database;
  readonly clock: EngineClock;
  readonly definitions: Definitions;
  readonly processId: () => string;
  readonly own: Own;
  readonly tokenOf: (reference: string) => string;
  readonly next?: NextOptions;
  /** Carries out, after the commit, what was decided. */
  readonly carryOut: (held: Held, command: Command) => void;
  readonly onNextDue: (inMs: number) => void;
  readonly onEnded: (executionId: string) => void;
}

const beginningsMax = 200;
const bytesMax = 8 * 1024 * 1024;

export function makeEngine(options: EngineOptions): Engine {
  const { database, clock, own } = options;
  const decisions = makeDecisions(options);
  const held = makeHeld(database, options.definitions);
  const advances = makeAdvances(database);
  const turns = makeTurns({
    held,
    decisions,
    advances,
    own,
    settle: (execution, { plan }) => settle(execution, plan),
  });
  const beginnings = coalescer<NewExecution, string | undefined>({
    itemsMax: beginningsMax,
    flushesMax: 2,
    costMax: bytesMax,
    cost: ({ state, events, input }) => state.length + (events?.length ?? 0) + input.length,
    flush: (items) => insertExecutions(database, items),
  });

  function settle(execution: Held, plan: Plan): void {
    held.keep(execution);
    const firstMs = plan.firstDueMs();
    if (firstMs !== undefined) options.onNextDue(Math.max(0, firstMs));
    for (const command of plan.commands)
      if (command.type !== "startTask" || !plan.left.includes(command.task))
        options.carryOut(execution, command);
    if (plan.left.length > 0) own.offer(execution.revision);
    if (!plan.ending) return;
    const { id: arn, machineName: workflow, startTime } = execution.state.execution;
    const durationMs = clock.nowMs() - Date.parse(startTime);
    workflowSignals.publish("workflow.ended", { arn, workflow, status: plan.ending.status, durationMs });
    options.onEnded(execution.id);
  }

  function tellStarted({ arn, machineArn, traceHeader, execution }: NewRun): void {
    const workflow = execution.machineName;
    workflowSignals.publish("workflow.started", { arn, machineArn, workflow, traceHeader });
  }

  return {
    // Never what is held: another process may have gone on, and whoever asks is about to act upon the answer.
    load: held.load,
    dispatch: (id, happening, how) =>
      new Promise((resolve, reject) => turns.take(id, { happening, resolve, reject, ...how })),
    async begin(run) {
      const { item, plan, rest } = await decisions.beginning(run, true);
      try {
        const id = await beginnings.add(item);
        if (id === undefined) return undefined;
        tellStarted(run);
        settle({ id, seq: 1, ...rest }, plan);
        warnHalfway(undefined, rest.state, rest.history);
        return id;
      } finally {
        own.free(run.revision, plan.places);
      }
    },
    async beginIn(tx, run) {
      const { item } = await decisions.beginning(run, false);
      const [id] = await insertExecutions(tx, [item]);
      return id;
    },
    async idle() {
      await Promise.all([advances.idle(), beginnings.idle()]);
    },
  };
}

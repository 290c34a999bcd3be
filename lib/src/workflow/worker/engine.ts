// Advances executions. Any process may advance any execution: seq is the fence, so that of two who decide upon the same
// state one comes through and the other looks again. Within a process an execution's events come one after another,
// and all advances that are ready at the same time share one statement and one commit.
import { randomUUID } from "node:crypto";
import { limits, next } from "../../asl/index.ts";
import type { Command, Decision, ExecutionState, Happening, Json, NextOptions } from "../../asl/contract.ts";
import { isTuntasError } from "../../core/error.ts";
import { coalescer } from "../../core/coalesce.ts";
import type { Sql } from "../../pg/contract.ts";
import type { Database } from "../../pg/database.ts";
import { workflowErrors } from "../contract.ts";
import { workflowSignals } from "../signals.ts";
import { Plan, type Planner } from "../state.ts";
import {
  insertExecutions,
  isStep,
  writeAdvances,
  type Advance,
  type NewExecution,
} from "../store/advance.ts";
import { loadExecutions, type Facts } from "../store/executions.ts";
import type { EngineClock } from "./clock.ts";
import type { Definition, Definitions } from "./definitions.ts";

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
}

/** An execution as the engine holds it between two advances. */
export interface Held extends Definition {
  readonly id: string;
  readonly seq: number;
  readonly state: ExecutionState;
  readonly history: boolean;
  readonly revision: string;
  readonly processor: string | null;
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
  /** Does what the places were kept for; where that comes to nothing they are free again. */
  during<T>(revision: string, places: number, write: () => Promise<T>): Promise<T>;
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

interface Pending extends DispatchOptions {
  readonly happening: Happening;
  readonly resolve: (result: Dispatched) => void;
  readonly reject: (cause: unknown) => void;
}

/** Of calls that nobody makes yet: no process has this id, so they are taken as those of a dead one. */
const nobody = { owner: "0", takes: () => false };

const attemptsMax = 20;
const heldMax = 1000;
const together = 50;
const advancesMax = 200;
const bytesMax = 8 * 1024 * 1024;

const cost = (item: { readonly state: string; readonly events: string | null }): number =>
  item.state.length + (item.events?.length ?? 0);

/** What may be decided in one advance: an event with a transaction of its own goes alone. */
function takeTogether(queue: Pending[]): Pending[] {
  const own = queue.findIndex(({ commit }) => commit !== undefined);
  return queue.splice(0, own < 0 ? together : Math.max(1, Math.min(own, together)));
}

/** Tells once of a history that has come half-way to where the execution will fail. */
function warnHalfway(before: ExecutionState, { lastEventId: used, execution }: ExecutionState): void {
  const half = limits.historyEvents / 2;
  if (before.lastEventId >= half || used < half) return;
  const { id: arn, machineName: workflow } = execution;
  const most = limits.historyEvents;
  workflowSignals.publish("workflow.near_limit", { arn, workflow, limit: "history events", used, most });
}

/** The state as it is kept: who the execution is stands in its own row. */
function stateText({ execution: _execution, ...state }: ExecutionState): string {
  return JSON.stringify(state);
}

const identityOf = ({ arn, ...facts }: Facts): ExecutionState["execution"] => ({
  id: arn,
  name: facts.name,
  roleArn: facts.roleArn,
  startTime: new Date(Math.round(facts.startedAtMs)).toISOString(),
  redriveCount: facts.redriveCount,
  machineId: facts.machineArn,
  machineName: facts.machineArn.slice(facts.machineArn.indexOf(":stateMachine:") + ":stateMachine:".length),
});

export function makeEngine(options: EngineOptions): Engine {
  const { database, clock, definitions, processId, own } = options;
  const queues = new Map<string, Pending[]>();
  const held = new Map<string, Held>();
  const advancing = () =>
    coalescer<Advance, boolean>({
      itemsMax: advancesMax,
      flushesMax: 2,
      costMax: bytesMax,
      cost,
      async flush(items) {
        // Fenced by seq, so what a collision undid may be written again.
        const write = () => writeAdvances(database, items);
        const hasMoved = await write().catch((cause: unknown) => {
          if (isTuntasError(cause, "TUNTAS_DATABASE_BUSY")) return write();
          throw cause;
        });
        return items.map(hasMoved);
      },
    });
  // Apart, since the one statement is a good deal lighter than the other.
  const [steps, advances] = [advancing(), advancing()];
  const beginnings = coalescer<NewExecution, string | undefined>({
    itemsMax: advancesMax,
    flushesMax: 2,
    costMax: bytesMax,
    cost: (item) => cost(item) + item.input.length,
    flush: (items) => insertExecutions(database, items),
  });
  const loads = coalescer<string, Held | undefined>({ itemsMax: 200, flushesMax: 2, flush: loadMany });

  async function loadMany(ids: readonly string[]): Promise<(Held | undefined)[]> {
    const rows = await loadExecutions(database, [...new Set(ids)]);
    const loaded = await Promise.all(
      rows.map(async ({ id, seq, state, revision, processor, type, ...facts }): Promise<Held> => ({
        id,
        seq,
        revision,
        processor,
        history: type === "STANDARD",
        state: { execution: identityOf(facts), ...(JSON.parse(state) as Omit<ExecutionState, "execution">) },
        ...(await definitions.get(revision, processor)),
      })),
    );
    const byId = new Map(loaded.map((each) => [each.id, each]));
    return ids.map((id) => byId.get(id));
  }

  function keep(execution: Held): void {
    held.delete(execution.id);
    if (execution.state.status !== "RUNNING") return;
    if (held.size >= heldMax) held.delete(held.keys().next().value!);
    held.set(execution.id, execution);
  }

  const decide = (
    { machine, isOwn, history }: Pick<Held, "machine" | "isOwn" | "history">,
    state: ExecutionState | undefined,
    happening: Happening,
  ): Decision | Promise<Decision> =>
    next(
      machine,
      state,
      { ...happening, nowMs: clock.nowMs(), seed: randomUUID() },
      { ...options.next, isOwn, history, tokenOf: options.tokenOf },
    );

  const plannerOf = (revision: string, executionId: string | undefined): Planner => ({
    owner: processId(),
    nowMs: clock.nowMs(),
    pool: revision,
    takes: (key) => own.takes(revision, executionId, key),
    holds: (key) => executionId !== undefined && own.holds(executionId, key),
    tokenOf: options.tokenOf,
  });

  /** Decides all that is pending upon what is held; the advance, and what became of each. */
  async function decideAll(execution: Held, batch: readonly Pending[]) {
    // Without a history nobody could say which task a row that stayed is about.
    const plan = new Plan(plannerOf(execution.revision, execution.history ? execution.id : undefined));
    const events: unknown[] = [];
    const results: Dispatched[] = [];
    let state = execution.state;
    for (const { happening, handedOver = false } of batch) {
      const decision = await decide(execution, state, happening);
      const late = decision.state.lastEventId === state.lastEventId && decision.commands.length === 0;
      results.push(late ? "late" : "applied");
      plan.happened(happening, state, handedOver);
      if (happening.type === "redriven" && !late) plan.begunAnew();
      for (const command of decision.commands) plan.take(command);
      events.push(...decision.events);
      state = decision.state;
    }
    return { plan, events, results, state };
  }

  /** One try; undefined where somebody else advanced the execution meanwhile. */
  async function tryAdvance(
    execution: Held,
    batch: readonly Pending[],
  ): Promise<readonly Dispatched[] | undefined> {
    const { plan, events, results, state } = await decideAll(execution, batch);
    const effects = plan.effects();
    const changed = state.lastEventId !== execution.state.lastEventId || plan.commands.length > 0;
    if (!changed && !effects) return results;
    const advance: Advance = {
      executionId: execution.id,
      seq: execution.seq,
      state: stateText(state),
      events: events.length > 0 ? plan.withoutTokens(JSON.stringify(events)) : null,
      effects,
      ending: plan.ending,
      redriven: plan.redriven,
    };
    const { commit } = batch[0]!;
    const written = await own.during(execution.revision, plan.places, () =>
      commit && results[0] === "applied"
        ? commit(advance)
        : (isStep(advance) ? steps : advances).add(advance),
    );
    if (!written) return commit ? ["overtaken"] : undefined;
    settle({ ...execution, seq: execution.seq + 1, state }, plan);
    if (execution.history) warnHalfway(execution.state, state);
    return results;
  }

  /** After the commit: what was decided is done, and told. */
  function settle(execution: Held, plan: Plan): void {
    keep(execution);
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

  async function decideBeginning({ execution, ...run }: NewRun, planner: Planner) {
    const { revision, processor } = run;
    const definition = definitions.known(revision, processor) ?? (await definitions.get(revision, processor));
    const history = run.type === "STANDARD";
    const input = JSON.parse(run.input) as Json;
    const started = { type: "started", execution, input } as const;
    const { state, events, commands } = await decide({ ...definition, history }, undefined, started);
    const plan = new Plan(planner);
    for (const command of commands) plan.take(command);
    const item: NewExecution = {
      ...run,
      state: stateText(state),
      events: events.length > 0 ? plan.withoutTokens(JSON.stringify(events)) : null,
      effects: plan.effects(),
      ending: plan.ending,
    };
    return { item, plan, rest: { ...definition, state, history, revision, processor } };
  }

  async function advance(id: string, batch: readonly Pending[]): Promise<readonly Dispatched[]> {
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const execution = held.get(id) ?? (await loads.add(id));
      if (!execution) return batch.map(() => "missing");
      const results = await tryAdvance(execution, batch);
      if (results?.[0] !== "overtaken" && results) return results;
      held.delete(id);
      if (results) return results;
    }
    throw workflowErrors.error("TUNTAS_ADVANCE_LOST", `execution ${id}: ${attemptsMax} tries were overtaken`);
  }

  async function drain(id: string, queue: Pending[]): Promise<void> {
    while (queue.length > 0) {
      const batch = takeTogether(queue);
      try {
        const results = await advance(id, batch);
        batch.forEach(({ resolve }, index) => resolve(results[index]!));
      } catch (cause) {
        held.delete(id);
        for (const { reject } of batch) reject(cause);
      }
    }
    queues.delete(id);
  }

  return {
    async load(id) {
      // Never what is held: another process may have gone on, and whoever asks is about to act upon the answer.
      const now = await loads.add(id);
      if (held.get(id)?.seq !== now?.seq) held.delete(id);
      return now;
    },
    dispatch: (id, happening, how) =>
      new Promise((resolve, reject) => {
        const pending = { ...how, happening, resolve, reject };
        const queue = queues.get(id);
        if (queue) return void queue.push(pending);
        const begun = [pending];
        queues.set(id, begun);
        void drain(id, begun);
      }),
    async begin(run) {
      const { item, plan, rest } = await decideBeginning(run, plannerOf(run.revision, undefined));
      const id = await own.during(run.revision, plan.places, () => beginnings.add(item));
      if (id === undefined) return undefined;
      const { arn, machineArn, traceHeader } = run;
      const workflow = run.execution.machineName;
      workflowSignals.publish("workflow.started", { arn, machineArn, workflow, traceHeader });
      settle({ id, seq: 1, ...rest }, plan);
      return id;
    },
    async beginIn(tx, run) {
      const { item } = await decideBeginning(run, { ...plannerOf(run.revision, undefined), ...nobody });
      const [id] = await insertExecutions(tx, [item]);
      return id;
    },
    async idle() {
      await Promise.all([steps.idle(), advances.idle(), beginnings.idle()]);
    },
  };
}

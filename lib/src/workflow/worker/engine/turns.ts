// An execution's events come one after another: what comes while an advance is under way shares the next one. Most turns
// are decided at once and written with those of other executions, so nothing here waits by a promise but where it must.
import { workflowErrors } from "../../contract.ts";
import type { Advance } from "../../store/advance.ts";
import type { Advances } from "./advances.ts";
import { storedEvents, type Decided, type Decisions, type Told } from "./decide.ts";
import type { Dispatched, DispatchOptions, Own, StepRecord } from "./index.ts";
import { warnHalfway } from "./near-limit.ts";
import { advanced, stateText, type Held, type HeldExecutions } from "./held.ts";

export interface Pending extends DispatchOptions, Told {
  readonly resolve: (result: Dispatched) => void;
  readonly reject: (cause: unknown) => void;
}

export interface TurnOptions {
  readonly held: HeldExecutions;
  readonly decisions: Decisions;
  readonly advances: Advances;
  readonly own: Own;
  /** After the commit: what was decided is done, and told. */
  readonly settle: (execution: Held, decided: Decided) => void;
}

/** Events of one execution that share an advance. */
interface Turn {
  readonly id: string;
  readonly batch: readonly Pending[];
  /** Those that came meanwhile. */
  readonly queue: Pending[];
  /** How often somebody else was first. */
  overtaken: number;
}

const overtakenMax = 20;
const together = 50;

/** What may be decided in one advance: an event with a transaction of its own goes alone. */
function takeTogether(queue: Pending[]): Pending[] {
  const own = queue.findIndex(({ commit }) => commit !== undefined);
  return queue.splice(0, own < 0 ? together : Math.max(1, Math.min(own, together)));
}

/** The advance that was decided upon; undefined where nothing changes. */
function advanceOf(
  { id: executionId, seq, state: before }: Held,
  { plan, state, events }: Decided,
  record: StepRecord | undefined,
): Advance | undefined {
  const effects = plan.effects();
  const changed = state.lastEventId !== before.lastEventId || plan.commands.length > 0;
  if (!changed && !effects) return undefined;
  return {
    executionId,
    seq,
    state: stateText(state),
    events: storedEvents(events, plan, record && { result: record.result, atMs: plan.planner.nowMs }),
    visit: record?.visit ?? null,
    effects,
    ending: plan.ending,
    redriven: plan.redriven,
  };
}

/** Answers what takes an execution's event; its promise is kept once the event is done with. */
export function makeTurns({ held, decisions, advances, own, settle }: TurnOptions) {
  const queues = new Map<string, Pending[]>();

  function begin(id: string, queue: Pending[]): void {
    go({ id, queue, batch: takeTogether(queue), overtaken: 0 });
  }

  function end({ id, queue }: Turn): void {
    if (queue.length > 0) begin(id, queue);
    else queues.delete(id);
  }

  function answer(turn: Turn, results: readonly Dispatched[]): void {
    turn.batch.forEach(({ resolve }, index) => resolve(results[index]!));
    end(turn);
  }

  function fail(turn: Turn, cause: unknown): void {
    held.drop(turn.id);
    for (const { reject } of turn.batch) reject(cause);
    end(turn);
  }

  /** Runs a part of the turn; whatever it throws is the turn's failure. */
  function within(turn: Turn, part: () => void): void {
    try {
      part();
    } catch (cause) {
      fail(turn, cause);
    }
  }

  function whenever<T>(turn: Turn, value: T | Promise<T>, then: (value: T) => void): void {
    if (!(value instanceof Promise)) return then(value);
    value.then(
      (had) => within(turn, () => then(had)),
      (cause: unknown) => fail(turn, cause),
    );
  }

  /** Decides upon what is held, else upon what the database has. */
  function go(turn: Turn): void {
    within(turn, () =>
      whenever(turn, held.get(turn.id) ?? held.load(turn.id), (execution) => {
        if (!execution) return missing(turn);
        whenever(turn, decisions.upon(execution, turn.batch), (decided) => write(turn, execution, decided));
      }),
    );
  }

  const missing = (turn: Turn): void =>
    answer(
      turn,
      turn.batch.map(() => "missing"),
    );

  function write(turn: Turn, execution: Held, decided: Decided): void {
    const { commit, record }: Partial<Pending> = decided.results[0] === "applied" ? turn.batch[0]! : {};
    const advance = advanceOf(execution, decided, record);
    if (!advance) return answer(turn, decided.results);
    // They are text now. What waits for a commit is in the way of the collector, which has to copy it.
    decided.events.length = 0;
    const free = () => own.free(execution.revision, decided.plan.places);
    const written = (moved: boolean): void => {
      within(turn, () => (moved ? applied(turn, execution, decided) : again(turn, commit !== undefined)));
      free();
    };
    const failed = (cause: unknown): void => {
      free();
      fail(turn, cause);
    };
    if (commit) commit(advance).then(written, failed);
    else advances.add({ advance, written, failed });
  }

  function applied(turn: Turn, execution: Held, decided: Decided): void {
    const { state } = decided;
    settle(advanced(execution, state), decided);
    warnHalfway(execution.state, state, execution.history);
    answer(turn, decided.results);
  }

  /** Somebody else advanced the execution meanwhile. What a handler's transaction holds is undone, so it looks again itself. */
  function again(turn: Turn, isUndone: boolean): void {
    held.drop(turn.id);
    if (isUndone) return answer(turn, ["overtaken"]);
    if (++turn.overtaken < overtakenMax) return go(turn);
    const tries = `execution ${turn.id}: ${overtakenMax} tries were overtaken`;
    throw workflowErrors.error("TUNTAS_ADVANCE_LOST", tries);
  }

  return {
    take(id: string, pending: Pending): void {
      const queue = queues.get(id);
      if (queue) return void queue.push(pending);
      const begun = [pending];
      queues.set(id, begun);
      begin(id, begun);
    },
  };
}

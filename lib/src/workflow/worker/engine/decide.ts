// What events mean for an execution: the language's decisions, and the plan of what they come to as rows. Nothing is
// written here. The answer is there at once, unless an expression has to be evaluated elsewhere.
import { randomUUID } from "node:crypto";
import { next } from "../../../asl/index.ts";
import type {
  Decision,
  ExecutionState,
  Happening,
  HistoryEvent,
  Json,
  NextOptions,
} from "../../../asl/contract.ts";
import { Plan, type Planner } from "../../state.ts";
import type { NewExecution } from "../../store/advance.ts";
import { nobody } from "../../store/calls.ts";
import { eventsText, type StepResult } from "../../store/events.ts";
import type { EngineClock } from "../clock.ts";
import type { Definitions } from "../definitions.ts";
import type { Dispatched, NewRun, Own } from "./index.ts";
import { stateText, type Held } from "./held.ts";

/** One event, and whether the task's work now belongs to somebody outside. */
export interface Told {
  readonly happening: Happening;
  readonly handedOver?: boolean;
}

export interface Decided {
  readonly plan: Plan;
  readonly events: HistoryEvent[];
  /** One for each event. */
  readonly results: Extract<Dispatched, "applied" | "late">[];
  state: ExecutionState;
}

export interface Begun {
  readonly item: NewExecution;
  readonly plan: Plan;
  /** The execution as it will be held. */
  readonly rest: Omit<Held, "id" | "seq">;
}

export interface DecideOptions {
  readonly clock: EngineClock;
  readonly definitions: Definitions;
  readonly processId: () => string;
  readonly own: Own;
  readonly tokenOf: (reference: string) => string;
  readonly next?: NextOptions | undefined;
}

export interface Decisions {
  /** Decides all of the events, one after another, upon what is held. */
  upon(execution: Held, told: readonly Told[]): Decided | Promise<Decided>;
  /** Decides the beginning; `here` says whether this process may make the calls that it comes to. */
  beginning(run: NewRun, here: boolean): Promise<Begun>;
}

/** Of what begins in somebody's transaction: whoever hears of the commit makes its calls. */
const elsewhere = { owner: nobody, takes: () => false };

/** The text that is kept of an advance's events, and of its step's result; null where there is neither. */
export const storedEvents = (
  events: readonly HistoryEvent[],
  plan: Plan,
  step?: StepResult,
): string | null => (events.length > 0 || step ? plan.withoutTokens(eventsText(events, step)) : null);

interface Asked {
  readonly execution: Held;
  readonly told: readonly Told[];
}

/** Takes a decision into what was decided so far. */
function note(decided: Decided, { happening, handedOver = false }: Told, made: Decision): void {
  const before = decided.state;
  const isLate = made.state.lastEventId === before.lastEventId && made.commands.length === 0;
  decided.results.push(isLate ? "late" : "applied");
  decided.plan.happened(happening, before, handedOver);
  if (happening.type === "redriven" && !isLate) decided.plan.begunAnew();
  for (const command of made.commands) decided.plan.take(command);
  for (const event of made.events) decided.events.push(event);
  decided.state = made.state;
}

/**
 * Seeds that nobody else has: what is drawn from them must be unique, not secret (a token is made with a secret of its
 * own). A UUID for each was a thirtieth of all that a step throws away.
 */
function makeSeeds(): () => string {
  const mine = randomUUID();
  let count = 0;
  return () => `${mine}/${count++}`;
}

export function makeDecisions(options: DecideOptions): Decisions {
  const nextSeed = makeSeeds();
  const { clock, definitions, processId, own, tokenOf } = options;

  const decide = (
    { machine, isOwn, history }: Pick<Held, "machine" | "isOwn" | "history">,
    state: ExecutionState | undefined,
    happening: Happening,
  ): Decision | Promise<Decision> =>
    next(
      machine,
      state,
      { nowMs: clock.nowMs(), seed: nextSeed(), ...happening },
      { isOwn, history, tokenOf, ...options.next },
    );

  const plannerOf = (revision: string, executionId: string | undefined): Planner => ({
    owner: processId(),
    nowMs: clock.nowMs(),
    pool: revision,
    takes: (key) => own.takes(revision, executionId, key),
    holds: (key) => executionId !== undefined && own.holds(executionId, key),
    tokenOf,
  });

  /** Decides from the event at `from` on; the rest by a promise, once one decision has to be waited for. */
  function decideAll(decided: Decided, asked: Asked, from: number): Decided | Promise<Decided> {
    for (let at = from; at < asked.told.length; at++) {
      const made = decide(asked.execution, decided.state, asked.told[at]!.happening);
      if (made instanceof Promise) return decideRest(decided, asked, { at, made });
      note(decided, asked.told[at]!, made);
    }
    return decided;
  }

  async function decideRest(
    decided: Decided,
    asked: Asked,
    { at, made }: { readonly at: number; readonly made: Promise<Decision> },
  ): Promise<Decided> {
    note(decided, asked.told[at]!, await made);
    return decideAll(decided, asked, at + 1);
  }

  return {
    upon(execution, told) {
      // Without a history nobody could say which task a row that stayed is about.
      const plan = new Plan(plannerOf(execution.revision, execution.history ? execution.id : undefined));
      const fail = (cause: unknown): never => {
        own.free(execution.revision, plan.places);
        throw cause;
      };
      try {
        const asked = { execution, told };
        const decided = decideAll({ plan, events: [], results: [], state: execution.state }, asked, 0);
        return decided instanceof Promise ? decided.catch(fail) : decided;
      } catch (cause) {
        return fail(cause);
      }
    },
    async beginning({ execution, ...run }, here) {
      const { revision, processor, aliasArn, versionArn } = run;
      const definition =
        definitions.known(revision, processor) ?? (await definitions.get(revision, processor));
      const history = run.type === "STANDARD";
      const input = JSON.parse(run.input) as Json;
      const started = { type: "started", execution, input, aliasArn, versionArn } as const;
      const made = decide({ ...definition, history }, undefined, started);
      const { state, events, commands } = made instanceof Promise ? await made : made;
      const plan = new Plan({ ...plannerOf(revision, undefined), ...(here ? {} : elsewhere) });
      for (const command of commands) plan.take(command);
      const item: NewExecution = {
        ...run,
        state: stateText(state),
        events: storedEvents(events, plan),
        effects: plan.effects(),
        ending: plan.ending,
      };
      return { item, plan, rest: { ...definition, state, history, revision, processor } };
    },
  };
}

// What happened in a run, out of its history: one visit for each stay in a state, with its attempts. Pure.
//
// Each event names the one before it on its line of control. Events that a Parallel or Map writes when a child has ended
// follow the child's last one, so whose they are is found by climbing from there.
import type { RecordStatus, HistoryEvent } from "tuntas/workflow";
import type { Visit, VisitAttempt, VisitOutcome } from "../../api/index.ts";

type Draft<T> = { -readonly [K in keyof T]: T[K] };
export type DraftVisit = Omit<Draft<Visit>, "attempts" | "outcome"> & { attempts: Draft<VisitAttempt>[] };

/** Where an event stands: in a visit, and in which item of it where that is a Map's. */
interface Place {
  readonly visit: DraftVisit | undefined;
  readonly item: number | null;
}

const nowhere: Place = { visit: undefined, item: null };
const entered = /^(\w+)StateEntered$/;
const exited = /StateExited$/;
const ofContainer =
  /^(Parallel|Map)State(Succeeded|Failed|Aborted)$|^MapIteration(Succeeded|Failed|Aborted)$/;

type Details = Readonly<Record<string, unknown>>;

export function detailsOf(event: HistoryEvent): Details {
  const key = Object.keys(event).find((name) => name.endsWith("EventDetails"));
  return key === undefined ? {} : event[key as `${string}EventDetails`]!;
}

const atMs = ({ timestamp }: HistoryEvent): number => timestamp * 1000;
const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

/** Kept while the events are gone through. */
export class Chronicle {
  readonly visits: DraftVisit[] = [];
  readonly #places = new Map<number, Place>();
  readonly #byId = new Map<number, DraftVisit>();

  /** The visit that an event is part of; undefined for those of the run itself. */
  visitOf(eventId: number): DraftVisit | undefined {
    return this.#places.get(eventId)?.visit;
  }

  add(event: HistoryEvent): void {
    const before = this.#places.get(event.previousEventId) ?? nowhere;
    this.#places.set(event.id, this.#placeOf(event, before));
  }

  #placeOf(event: HistoryEvent, before: Place): Place {
    const type = entered.exec(event.type)?.[1];
    if (type !== undefined) return this.#enter(event, type, before);
    const visit = this.#ownerOf(event, before.visit);
    if (visit) note(visit, event);
    if (event.type === "MapIterationStarted") return { visit, item: Number(detailsOf(event).index ?? 0) };
    return { visit, item: null };
  }

  /** A state that follows another stands beside it; one that begins a branch or an item stands inside. */
  #enter(event: HistoryEvent, type: string, { visit: before, item }: Place): Place {
    const follows = before !== undefined && before.exitedAtMs !== null;
    const visit: DraftVisit = {
      id: event.id,
      state: textOf(detailsOf(event).name) ?? "",
      type,
      parent: (follows ? before.parent : before?.id) ?? null,
      item: follows ? before.item : item,
      enteredAtMs: atMs(event),
      exitedAtMs: null,
      attempts: [],
    };
    this.visits.push(visit);
    this.#byId.set(visit.id, visit);
    return { visit, item: null };
  }

  #ownerOf(event: HistoryEvent, from: DraftVisit | undefined): DraftVisit | undefined {
    if (exited.test(event.type)) return this.#climb(from, ({ state }) => state === detailsOf(event).name);
    const container = ofContainer.exec(event.type);
    if (!container) return from;
    return this.#climb(
      from,
      ({ type, exitedAtMs }) => exitedAtMs === null && type === (container[1] ?? "Map"),
    );
  }

  #climb(from: DraftVisit | undefined, isIt: (visit: DraftVisit) => boolean): DraftVisit | undefined {
    for (let at = from; at; at = at.parent === null ? undefined : this.#byId.get(at.parent))
      if (isIt(at)) return at;
    return from;
  }
}

const phases =
  /^(?:Task|Activity|LambdaFunction)(Scheduled|Started|Succeeded|Failed|TimedOut|ScheduleFailed|StartFailed|SubmitFailed)$/;

function note(visit: DraftVisit, event: HistoryEvent): void {
  if (exited.test(event.type)) visit.exitedAtMs = atMs(event);
  const phase = phases.exec(event.type)?.[1];
  if (phase === "Scheduled") visit.attempts.push(attemptAt(event));
  const attempt = visit.attempts.at(-1);
  if (!attempt || phase === undefined || phase === "Scheduled") return;
  if (phase === "Started") attempt.startedAtMs = atMs(event);
  else endAttempt(attempt, phase, event);
}

const attemptAt = (event: HistoryEvent): Draft<VisitAttempt> => ({
  scheduledAtMs: atMs(event),
  startedAtMs: null,
  endedAtMs: null,
  outcome: "running",
  error: null,
  cause: null,
});

function endAttempt(attempt: Draft<VisitAttempt>, phase: string, event: HistoryEvent): void {
  const { error, cause } = detailsOf(event);
  attempt.endedAtMs = atMs(event);
  attempt.outcome = phase === "Succeeded" ? "succeeded" : phase === "TimedOut" ? "timed out" : "failed";
  attempt.error = textOf(error);
  attempt.cause = textOf(cause);
}

/** How a visit that was left ended: what its last attempt failed at was caught. */
const leftAs = ({ attempts }: DraftVisit): VisitOutcome =>
  attempts.length > 0 && attempts.at(-1)!.outcome !== "succeeded" ? "caught" : "succeeded";

/** Whether it was this visit that failed, where the whole run did, and not what runs beside it. */
function isCulprit({ type, attempts }: DraftVisit, hasChildren: boolean): boolean {
  const last = attempts.at(-1)?.outcome;
  if (last !== undefined) return last === "failed" || last === "timed out";
  return type !== "Wait" && !hasChildren;
}

/** Visits without an exit: how they stand follows from how the run ended. */
function outcomesOf(visits: readonly DraftVisit[], status: RecordStatus): Map<number, VisitOutcome> {
  const open = visits.filter(({ exitedAtMs, type }) => exitedAtMs === null && type !== "Succeed");
  const parents = new Set(open.map(({ parent }) => parent));
  const outcomes = new Map<number, VisitOutcome>();
  // Children come after their parents, so that a failure is known before the parent is asked.
  for (const visit of open.toReversed()) {
    if (status === "RUNNING") outcomes.set(visit.id, "running");
    else if (status === "TIMED_OUT") outcomes.set(visit.id, "timed out");
    else if (status === "ABORTED" || !isCulprit(visit, parents.has(visit.id)))
      outcomes.set(visit.id, outcomes.get(visit.id) ?? "aborted");
    else outcomes.set(visit.id, "failed");
    if (outcomes.get(visit.id) === "failed" && visit.parent !== null) outcomes.set(visit.parent, "failed");
  }
  return outcomes;
}

/** Every stay in a state, in the order in which they began. */
export function visitsOf({ visits }: Pick<Chronicle, "visits">, status: RecordStatus): Visit[] {
  const open = outcomesOf(visits, status);
  return visits.map((visit) => ({ ...visit, outcome: open.get(visit.id) ?? leftAs(visit) }));
}

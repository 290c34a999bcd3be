// The oracle of a schedule that is due every minute: what its rules, work that ends and people's acts make of it, in memory and
// with a clock that is a number of seconds. As simple as the rules can be said.

export interface ModelRules {
  readonly overlap: "skip" | "allow" | "queue";
  readonly catchUp: "skip" | "latest" | "all";
  /** What is caught up is at most so late. */
  readonly withinSeconds: number;
}

export const periodSeconds = 60;
/** Later than this, nobody was there. */
export const onTimeSeconds = 15;

export interface ModelOccurrence {
  readonly due: number;
  /** 0, or the number of a person's run. */
  readonly run: number;
  readonly start: number;
  state: "waiting" | "started" | "succeeded" | "failed" | "skipped" | "missed";
}

/** Whether the catch-up rule has an occurrence begun that is found so late; `isLast` of those that are found together. */
export function isCaughtUp(rules: ModelRules, lateSeconds: number, isLast: boolean): boolean {
  if (lateSeconds <= onTimeSeconds) return true;
  if (rules.catchUp === "skip" || lateSeconds > rules.withinSeconds) return false;
  return rules.catchUp === "all" || isLast;
}

export class ScheduleModel {
  readonly occurrences: ModelOccurrence[] = [];
  now = 0;
  private readonly rules: ModelRules;
  private next = 0;
  private coveredUntil = -periodSeconds;
  private paused = false;

  /** Declared at 0, when it is due first. */
  constructor(rules: ModelRules) {
    this.rules = rules;
    this.look();
  }

  /** Somebody looks after so many seconds, and nobody did before. */
  advance(seconds: number): void {
    this.now += seconds;
    this.look();
  }

  end(occurrence: ModelOccurrence, state: "succeeded" | "failed"): void {
    occurrence.state = state;
    this.look();
  }

  pause(): void {
    this.paused = true;
  }

  /** What passed meanwhile is a gap. */
  resume(): void {
    if (!this.paused) return;
    this.paused = false;
    this.next = this.latest() + periodSeconds;
    this.coveredUntil = this.latest();
    this.look();
  }

  run(due: number): void {
    const before = this.occurrences.filter((each) => each.due === due);
    const start = before[0]?.start ?? due - periodSeconds;
    const run = Math.max(0, ...before.map((each) => each.run)) + 1;
    this.occurrences.push({ due, run, start, state: "waiting" });
    this.occurrences.sort((one, other) => one.due - other.due || one.run - other.run);
    this.look();
  }

  /** The last instant up to now. */
  latest(): number {
    return Math.floor(this.now / periodSeconds) * periodSeconds;
  }

  /** When it is due next; undefined while it is paused. */
  nextDue(): number | undefined {
    return this.paused ? undefined : this.next;
  }

  in(state: ModelOccurrence["state"]): ModelOccurrence[] {
    return this.occurrences.filter((each) => each.state === state);
  }

  private look(): void {
    for (const each of this.in("waiting")) if (this.mayBegin(each)) each.state = "started";
    if (this.paused) return;
    for (; this.next <= this.now; this.next += periodSeconds) {
      const { next: due, coveredUntil: start } = this;
      this.occurrences.push({ due, run: 0, start, state: this.fateOf(due) });
      this.coveredUntil = due;
    }
  }

  private mayBegin({ run, due }: ModelOccurrence): boolean {
    if (this.paused && run === 0) return false;
    const begun = this.in("started");
    // No window runs beside itself.
    return this.rules.overlap === "allow" ? begun.every((each) => each.due !== due) : begun.length === 0;
  }

  private fateOf(due: number): ModelOccurrence["state"] {
    if (!isCaughtUp(this.rules, this.now - due, due === this.latest())) return "missed";
    if (this.rules.overlap === "allow") return "started";
    if (this.in("started").length + this.in("waiting").length === 0) return "started";
    return this.rules.overlap === "skip" ? "skipped" : "waiting";
  }
}

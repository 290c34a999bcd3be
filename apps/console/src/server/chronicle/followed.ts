// Runs that somebody looks at, followed as they grow: each look reads what was added since the one before, however long the
// history is by now.
import type { Executions, HistoryEvent } from "tuntas/workflow";
import { Chronicle } from "./visits.ts";

export interface Followed {
  readonly chronicle: Chronicle;
  /** The last event of each part of the history that was read, by the part's number. */
  readonly parts: readonly { readonly seq: number; readonly lastId: number }[];
}

type History = Pick<Executions, "historyAfter">;
interface Run {
  readonly id: string;
}

const runsMax = 50;
const beginning = -1;

export interface Chronicles {
  /** What is known of the run, brought up to now. */
  follow(run: Run): Promise<Followed>;
  /** The run's events from this one on. */
  eventsFrom(run: Run, eventId: number): Promise<readonly HistoryEvent[]>;
}

export function makeChronicles(executions: History): Chronicles {
  const runs = new Map<string, Promise<Followed>>();

  async function grow(run: Run, { chronicle, parts }: Followed): Promise<Followed> {
    const added = await executions.historyAfter(run, parts.at(-1)?.seq ?? beginning);
    for (const { events } of added) for (const event of events) chronicle.add(event);
    const ends = added.map(({ seq, events }) => ({ seq, lastId: events.at(-1)?.id ?? 0 }));
    return { chronicle, parts: [...parts, ...ends] };
  }

  /** One after another: what two looks found at once would be noted twice. */
  function follow(run: Run): Promise<Followed> {
    const before = runs.get(run.id) ?? Promise.resolve({ chronicle: new Chronicle(), parts: [] });
    const now = before.then((known) => grow(run, known));
    runs.delete(run.id);
    runs.set(run.id, now);
    for (const oldest of runs.keys()) if (runs.size > runsMax) runs.delete(oldest);
    now.catch(() => runs.get(run.id) === now && runs.delete(run.id));
    return now;
  }

  return {
    follow,
    async eventsFrom(run, eventId) {
      const { parts } = await follow(run);
      const before = parts.findLast(({ lastId }) => lastId < eventId)?.seq ?? beginning;
      const pages = await executions.historyAfter(run, before);
      return pages.flatMap(({ events }) => events).filter(({ id }) => id >= eventId);
    },
  };
}

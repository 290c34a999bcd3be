// Which workflows this process carries out, and how many places each has left.
import type { Ease } from "../../../engine/handler/ease.ts";
import type { Line } from "../../../pg/lease.ts";
import type { TaskDefinition, WorkflowDefinition } from "../../declaration.ts";

/** The line is that of its tasks whose transactions wait for a connection. */
export interface Place extends Line {
  readonly workflow: WorkflowDefinition;
  /** Fewer than were declared while the database is slow. */
  readonly ease: Ease;
  running: number;
  /** Kept for tasks whose beginning is not written yet. */
  kept: number;
}

export interface Places {
  add(revisions: readonly string[], workflow: WorkflowDefinition, ease: Ease): () => void;
  of(revision: string): Place | undefined;
  taskOf(revision: string, name: string | undefined): TaskDefinition | undefined;
  revisions(): string[];
  /** Keeps one, if there is any, or for what follows at once on what runs here. */
  keep(revision: string, follows: boolean): boolean;
  /** What places were kept for has begun, and is counted as running now, or came to nothing. */
  free(revision: string, places: number): void;
  /** The revisions that have room, and how much the fullest of them has. */
  room(max: number): { pools: string[]; limit: number };
  clear(): void;
}

export const concurrencyDefault = 500;

// What waits for one of the few connections is in nobody's hands but in the way: of the collector, of the caches, and of
// other processes that would have one. So many are enough for the connections never to wait.
const waitingMax = 64;

const leftOf = ({ running, kept, ease, waiting }: Place): number =>
  Math.min(ease.places() - running, waiting > 0 ? waitingMax - waiting : Infinity) - kept;

/** Whether so much room has come free that it is worth a look for more. */
export const isRoomy = ({ running, ease, waiting }: Place): boolean =>
  running <= ease.places() / 2 && waiting <= waitingMax / 2;

export function makePlaces(): Places {
  const byRevision = new Map<string, Place>();
  return {
    add(revisions, workflow, ease) {
      const place: Place = { workflow, ease, running: 0, kept: 0, waiting: 0 };
      for (const revision of revisions) byRevision.set(revision, place);
      return () => {
        ease.close();
        revisions.forEach((revision) => byRevision.delete(revision));
      };
    },
    of: (revision) => byRevision.get(revision),
    taskOf: (revision, name = "") => byRevision.get(revision)?.workflow.tasks.get(name),
    revisions: () => [...byRevision.keys()],
    keep(revision, follows) {
      const place = byRevision.get(revision);
      if (!place || !(follows || leftOf(place) > 0)) return false;
      place.kept++;
      return true;
    },
    free(revision, places) {
      const place = byRevision.get(revision);
      if (place) place.kept -= places;
    },
    room(max) {
      const open = [...byRevision].filter(([, place]) => leftOf(place) > 0);
      const lefts = open.map(([, place]) => leftOf(place));
      return { pools: open.map(([revision]) => revision), limit: Math.min(max, ...lefts) };
    },
    clear() {
      for (const { ease } of byRevision.values()) ease.close();
      byRevision.clear();
    },
  };
}

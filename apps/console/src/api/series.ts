import type { Mark } from "tuntas/series";
import type { QueueName } from "./queues.ts";

export type { Mark };

/** Figures on one axis; null where nobody looked. */
export interface QueueSeries {
  readonly atMs: readonly number[];
  readonly stepMs: number;
  readonly donePerMinute: readonly (number | null)[];
  readonly failedPerMinute: readonly (number | null)[];
  readonly ready: readonly (number | null)[];
  readonly oldestAgeSeconds: readonly (number | null)[];
  readonly marks: readonly Mark[];
}

/** How the last five minutes went. */
export interface QueuePace {
  readonly donePerMinute: number;
  /** Of the attempts, those that failed and will be tried again; null where there was none. */
  readonly retryShare: number | null;
}

/** One of the ten questions that a worker is asked. */
export interface WorkerAnswer {
  readonly question: string;
  /** Null where the question does not arise. */
  readonly fine: boolean | null;
  readonly text: string;
}

export interface SeriesReads {
  "queue.series": { query: QueueName & { readonly minutes: string }; answer: QueueSeries };
  "queue.pace": { query: QueueName; answer: QueuePace };
  "queue.answers": { query: QueueName; answer: readonly WorkerAnswer[] };
}

// What a caller of the time series sees.
import { catalogue } from "../core/error.ts";

export type Labels = Readonly<Record<string, string>>;

export type SeriesKind = "gauge" | "counter";

/** A metric with its labels. */
export interface SeriesName {
  readonly name: string;
  readonly labels: Labels;
}

/** One observation, to be added to the buckets of its instant: a gauge's value, or what a counter went up by. */
export interface Sample extends SeriesName {
  readonly kind: SeriesKind;
  readonly value: number;
}

/** What was seen in one bucket. A gauge that did not change there carries on, with 0 samples. */
export interface Point {
  readonly atMs: number;
  readonly samples: number;
  readonly sum: number;
  readonly min: number;
  readonly max: number;
  readonly last: number;
}

export interface Series extends SeriesName {
  readonly kind: SeriesKind;
  /** Oldest first. A gauge has a point for each bucket in which it was known, a counter only where it went up. */
  readonly points: readonly Point[];
}

export interface SeriesQuery {
  readonly name: string;
  /** Series that have these labels, whatever others they have. */
  readonly labels?: Labels | undefined;
  readonly fromMs: number;
  readonly toMs: number;
  /** The width of a bucket in ms; made a multiple of what is kept of that time: 10 s, 60 s or 900 s. */
  readonly stepMs: number;
}

export type MarkKind = "deployment" | "configuration" | "gap";

/** Something that happened, for the same axis as the figures. */
export interface Mark {
  readonly kind: MarkKind;
  readonly atMs: number;
  /** The end of a gap. */
  readonly untilMs: number | null;
  /** A queue, a workflow, an application; `sampling` for a gap. */
  readonly subject: string;
  readonly text: string;
  readonly actor: string | null;
}

export interface NewMark {
  readonly kind: Exclude<MarkKind, "gap">;
  readonly subject: string;
  readonly text: string;
  readonly actor?: string | undefined;
}

export const seriesErrors = catalogue({
  TUNTAS_SERIES_QUERY: {
    meaning: "A time series was asked for with a range or step that cannot be answered.",
    remedy: "Ask for at most 2,000 buckets: a later start, an earlier end, or a longer step.",
  },
});

// Buckets: which there are, how long each width is kept, and how a gauge carries on from one to the next. Pure.
import type { Labels, Point, SeriesKind } from "./contract.ts";

/** Widths of buckets, and how long points of each are kept. */
export const widths = [
  { seconds: 10, keptSeconds: 3600 },
  { seconds: 60, keptSeconds: 86_400 },
  { seconds: 900, keptSeconds: 15 * 86_400 },
] as const;

export const pointsMax = 2000;
/** No more series than this are kept; what comes later is left out. */
export const seriesMax = 5000;

/** The coarsest kept width that fits the step and still reaches back to the start. */
export function widthFor(stepSeconds: number, ageSeconds: number): number {
  const reaching = widths.filter(({ keptSeconds }) => keptSeconds >= ageSeconds);
  const candidates = reaching.length > 0 ? reaching : widths.slice(-1);
  return candidates.findLast(({ seconds }) => seconds <= stepSeconds)?.seconds ?? candidates[0]!.seconds;
}

/** The labels as one text, equal for equal labels. */
export const labelsText = (labels: Labels): string =>
  JSON.stringify(Object.fromEntries(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1))));

export interface Gap {
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface Filling {
  readonly kind: SeriesKind;
  readonly points: readonly Point[];
  /** What a gauge was at the start; undefined where that is not known. */
  readonly before: number | undefined;
  readonly gaps: readonly Gap[];
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
}

const carried = (atMs: number, value: number): Point => ({
  atMs,
  samples: 0,
  sum: value,
  min: value,
  max: value,
  last: value,
});

/** Gives a gauge a point for each bucket in which somebody looked; a counter stays as it is. */
export function fill({ kind, points, before, gaps, fromMs, toMs, stepMs }: Filling): Point[] {
  if (kind === "counter") return [...points];
  const known = new Map(points.map((point) => [point.atMs, point]));
  const unseen = (atMs: number) => gaps.some((gap) => gap.fromMs < atMs + stepMs && gap.untilMs > atMs);
  const filled: Point[] = [];
  let value = before;
  for (let atMs = Math.floor(fromMs / stepMs) * stepMs; atMs < toMs; atMs += stepMs) {
    const point = known.get(atMs);
    value = point ? point.last : unseen(atMs) ? undefined : value;
    if (point) filled.push(point);
    else if (value !== undefined) filled.push(carried(atMs, value));
  }
  return filled;
}

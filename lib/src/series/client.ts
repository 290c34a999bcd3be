// The asking side of the time series: read what a metric was, with what happened meanwhile; add samples and marks.
import { readNowMs } from "../pg/clock.ts";
import type { Sql } from "../pg/contract.ts";
import { atOneMoment } from "../pg/snapshot.ts";
import type { Labels, Mark, NewMark, Sample, Series, SeriesQuery } from "./contract.ts";
import { seriesErrors } from "./contract.ts";
import { fill, labelsText, pointsMax, seriesMax, widthFor, type Gap } from "./state.ts";
import * as store from "./store.ts";

export interface TimeSeries {
  /** The series of that name with these labels. Errors: TUNTAS_SERIES_QUERY. */
  read(query: SeriesQuery): Promise<Series[]>;
  /** All series of these names with these labels at once. Errors: TUNTAS_SERIES_QUERY. */
  readAll(query: Omit<SeriesQuery, "name"> & { readonly names: readonly string[] }): Promise<Series[]>;
  /** Deployments, changes of configuration and gaps in that time, oldest first. */
  marks(range: { readonly fromMs: number; readonly toMs: number }): Promise<Mark[]>;
  /** Adds the samples to the buckets of this moment. */
  add(samples: readonly Sample[]): Promise<void>;
  mark(mark: NewMark): Promise<void>;
  /** Marks a deployment where the application ran another revision before. */
  deployed(subject: string, revision: string): Promise<void>;
  /** The database's clock, for the ends of a range. */
  nowMs(): Promise<number>;
}

const leastStepMs = 10_000;

type Span = Pick<SeriesQuery, "fromMs" | "toMs" | "stepMs">;

interface Wanted {
  readonly names: readonly string[];
  readonly labels: Labels;
  readonly limit: number;
}

interface Grid {
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
}

/** The buckets of the answer, all of one width that is a multiple of what is kept. */
function gridOf({ fromMs, toMs, stepMs }: Span, nowMs: number): Grid & { widthSeconds: number } {
  const finite = [fromMs, toMs, stepMs].every(Number.isFinite) && toMs > fromMs && stepMs > 0;
  if (!finite) {
    throw seriesErrors.error(
      "TUNTAS_SERIES_QUERY",
      `expected fromMs < toMs and stepMs > 0, got ${fromMs}, ${toMs} and ${stepMs}`,
    );
  }
  const widthSeconds = widthFor(Math.max(leastStepMs, stepMs) / 1000, (nowMs - fromMs) / 1000);
  const step = Math.ceil(stepMs / 1000 / widthSeconds) * widthSeconds * 1000;
  const grid = {
    fromMs: Math.floor(fromMs / step) * step,
    toMs: Math.ceil(toMs / step) * step,
    stepMs: step,
  };
  const count = (grid.toMs - grid.fromMs) / step;
  if (count > pointsMax)
    throw seriesErrors.error("TUNTAS_SERIES_QUERY", `expected at most ${pointsMax} buckets, got ${count}`);
  return { ...grid, widthSeconds };
}

const gapsOf = (marks: readonly Mark[]): Gap[] =>
  marks.map(({ atMs, untilMs }) => ({ fromMs: atMs, untilMs: untilMs! }));

export function makeTimeSeries(database: Sql): TimeSeries {
  const readStored = ({ names, labels, limit }: Wanted, span: Span) =>
    atOneMoment(database, async (moment) => {
      const nowMs = await readNowMs(moment);
      const grid = gridOf(span, nowMs);
      const stored = await store.readSeries(moment, { names, labels: labelsText(labels), limit }, grid);
      const gaps = gapsOf(await store.readGaps(moment, grid.fromMs, grid.toMs));
      return { stored, known: { ...grid, gaps, toMs: Math.min(grid.toMs, nowMs) } };
    });

  async function readThem(wanted: Wanted, span: Span): Promise<Series[]> {
    const { stored, known } = await readStored(wanted, span);
    return stored.map(({ name, labels: text, kind, before, points }) => ({
      name,
      labels: JSON.parse(text) as Labels,
      kind,
      points: fill({ kind, points, before, ...known }),
    }));
  }

  return {
    read: ({ name, labels = {}, ...span }) => readThem({ names: [name], labels, limit: 200 }, span),
    readAll: ({ names, labels = {}, ...span }) => readThem({ names, labels, limit: seriesMax }, span),
    marks: ({ fromMs, toMs }) => store.readMarks(database, fromMs, toMs),
    add: async (samples) => void (samples.length > 0 && (await store.addSamples(database, samples))),
    mark: async (mark) => void (await store.insertMark(database, mark)),
    deployed: async (subject, revision) => void (await store.insertDeployment(database, subject, revision)),
    nowMs: () => readNowMs(database),
  };
}

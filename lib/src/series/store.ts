// The statements of the time series.
import type { Sql } from "../pg/contract.ts";
import { statement } from "../pg/database.ts";
import { ms } from "../pg/instant.ts";
import type { Runner } from "../pg/join.ts";
import type { Mark, NewMark, Point, Sample, SeriesKind } from "./contract.ts";
import { labelsText, seriesMax, widths } from "./state.ts";

const bucket = (column: string, seconds: string) =>
  `to_timestamp(floor(extract(epoch from ${column}) / ${seconds}) * ${seconds})`;

const nameText = statement(
  `insert into tuntas.series (name, labels, kind, created_at)
   select n, l, k, tuntas.now() from unnest($1::text[], $2::text[], $3::text[]) u(n, l, k)
   where (select count(*) from tuntas.series) < ${seriesMax}
     and not exists (select from tuntas.series s where s.name = n and s.labels = l)
   order by n, l
   on conflict do nothing`,
);

// One statement for all widths of all samples, in one order of rows, so that two processes do not wait for each other.
const addText = statement(
  `insert into tuntas.series_point as p (series_id, width_seconds, at, samples, total, least, greatest, latest)
   select s.id, w, ${bucket("tuntas.now()", "w")}, 1, u.v, u.v, u.v, u.v
   from unnest($1::text[], $2::text[], $3::float8[]) u(n, l, v) join tuntas.series s on s.name = u.n and s.labels = u.l,
     unnest($4::integer[]) w
   order by s.id, w
   on conflict (series_id, width_seconds, at) do update set samples = p.samples + 1, total = p.total + excluded.total,
     least = least(p.least, excluded.least), greatest = greatest(p.greatest, excluded.greatest), latest = excluded.latest
   returning series_id`,
);

const widthSeconds = widths.map(({ seconds }) => seconds);

const columnsOf = (samples: readonly Sample[]) => ({
  names: samples.map(({ name }) => name),
  labels: samples.map(({ labels }) => labelsText(labels)),
});

/** Adds each sample to the buckets of this moment. Samples of series that have no room left are dropped. */
export async function addSamples(sql: Sql, samples: readonly Sample[]): Promise<void> {
  const { names, labels } = columnsOf(samples);
  const values = [names, labels, samples.map(({ value }) => value), widthSeconds];
  const written = await sql.run(addText, values);
  if (written.length >= samples.length * widths.length) return;
  await sql.transaction(async (tx) => {
    await tx.run(nameText, [names, labels, samples.map(({ kind }) => kind)]);
    await addMissing(tx, samples, new Set(written.map(({ series_id }) => series_id as string)));
  });
}

const idsText = statement(
  `select s.id, s.name, s.labels from unnest($1::text[], $2::text[]) u(n, l) join tuntas.series s on s.name = u.n and s.labels = u.l`,
);

async function addMissing(
  sql: Runner,
  samples: readonly Sample[],
  written: ReadonlySet<string>,
): Promise<void> {
  const { names, labels } = columnsOf(samples);
  const rows = await sql.run<{ id: string; name: string; labels: string }>(idsText, [names, labels]);
  const fresh = new Set(rows.filter(({ id }) => !written.has(id)).map((row) => `${row.name} ${row.labels}`));
  const missing = samples.filter((sample) => fresh.has(`${sample.name} ${labelsText(sample.labels)}`));
  if (missing.length === 0) return;
  const columns = columnsOf(missing);
  await sql.run(addText, [columns.names, columns.labels, missing.map(({ value }) => value), widthSeconds]);
}

// One look-up a series: the last point of the coarsest width is as fresh as that of the finest.
const latestText = statement(
  `select s.name, s.labels, (select p.latest from tuntas.series_point p where p.series_id = s.id and p.width_seconds = ${widthSeconds.at(-1)}
     order by p.at desc limit 1) as value
   from tuntas.series s where s.kind = 'gauge'`,
);

/** What each gauge was last. */
export const latestGauges = (sql: Runner) =>
  sql.run<{ name: string; labels: string; value: number | null }>(latestText);

const readText = statement(
  `select s.name, s.labels, s.kind,
     (select b.latest from tuntas.series_point b where s.kind = 'gauge' and b.series_id = s.id and b.width_seconds = ${widthSeconds.at(-1)}
        and b.at <= to_timestamp($3 - ${widthSeconds.at(-1)}) order by b.at desc limit 1) as coarse,
     (select json_build_array(b.latest, ${ms("b.at")}) from tuntas.series_point b where s.kind = 'gauge' and b.series_id = s.id and b.width_seconds = $6
        and b.at < to_timestamp($3) order by b.at desc limit 1) as fine,
     (select json_agg(json_build_array(at, samples, sum, min, max, last) order by at) from (
        select floor(extract(epoch from p.at) / $5::float8)::float8 * $5 * 1000 as at, sum(p.samples)::float8 as samples, sum(p.total) as sum,
          min(p.least) as min, max(p.greatest) as max, (array_agg(p.latest order by p.at desc))[1] as last
        from tuntas.series_point p where p.series_id = s.id and p.width_seconds = $6 and p.at >= to_timestamp($3) and p.at < to_timestamp($4)
        group by 1) buckets) as points
   from tuntas.series s where s.name = any($1) and s.labels::jsonb @> $2::jsonb order by s.name, s.labels limit $7`,
);

export interface StoredSeries {
  readonly name: string;
  readonly labels: string;
  readonly kind: SeriesKind;
  readonly before: number | undefined;
  readonly points: Point[];
}

export interface Range {
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
  readonly widthSeconds: number;
}

type PointRow = [at: number, samples: number, sum: number, min: number, max: number, last: number];

const toPoint = ([atMs, samples, sum, min, max, last]: PointRow): Point => ({
  atMs,
  samples,
  sum,
  min,
  max,
  last,
});

export async function readSeries(
  sql: Runner,
  { names, labels, limit }: { names: readonly string[]; labels: string; limit: number },
  { fromMs, toMs, stepMs, widthSeconds: width }: Range,
): Promise<StoredSeries[]> {
  const values = [names, labels, fromMs / 1000, toMs / 1000, stepMs / 1000, width, limit];
  const rows = await sql.run(readText, values);
  return rows.map((row) => ({
    name: row.name,
    labels: row.labels,
    kind: row.kind,
    before: (row.fine as [number] | null)?.[0] ?? row.coarse ?? undefined,
    points: ((row.points ?? []) as PointRow[]).map(toPoint),
  }));
}

const forgetText = statement(
  `with old as (delete from tuntas.series_point p using unnest($1::integer[], $2::float8[]) u(w, kept)
     where p.width_seconds = u.w and p.at < tuntas.now() - make_interval(secs => u.kept)),
   marks as (delete from tuntas.series_mark where coalesce(until, at) < tuntas.now() - make_interval(secs => $3)),
   bare as (delete from tuntas.series s where s.created_at < tuntas.now() - interval '1 day' and not exists (
     select from tuntas.series_point p where p.series_id = s.id))
   select 1`,
);

/** Forgets what is older than is kept. */
export const forgetOld = (sql: Runner) =>
  sql.run(forgetText, [
    widthSeconds,
    widths.map(({ keptSeconds }) => keptSeconds),
    widths.at(-1)!.keptSeconds,
  ]);

const markText = statement(
  `insert into tuntas.series_mark (kind, at, subject, text, actor) values ($1, tuntas.now(), $2, $3, $4)`,
);
export const insertMark = (sql: Runner, { kind, subject, text, actor }: NewMark) =>
  sql.run(markText, [kind, subject, text, actor ?? null]);

// What a deployment runs is only news where the one before ran something else.
const deploymentText = statement(
  `insert into tuntas.series_mark (kind, at, subject, text)
   select 'deployment', tuntas.now(), $1, $2 where $2 is distinct from (
     select m.text from tuntas.series_mark m where m.kind = 'deployment' and m.subject = $1 order by m.id desc limit 1)`,
);
export const insertDeployment = (sql: Runner, subject: string, revision: string) =>
  sql.run(deploymentText, [subject, revision]);

const gapText = statement(
  `insert into tuntas.series_mark (kind, at, until, subject, text)
   select 'gap', to_timestamp($1), tuntas.now(), 'sampling', 'nobody looked'
   where to_timestamp($1) < tuntas.now() - make_interval(secs => $2)`,
);
/** Marks that nobody looked from then until now, where that is long enough to matter. */
export const insertGap = (sql: Runner, { fromMs, leastMs }: { fromMs: number; leastMs: number }) =>
  sql.run(gapText, [fromMs / 1000, leastMs / 1000]);

// A change of configuration is on the record already; it is not written down twice.
const configuring = `('queue.create', 'queue.update', 'queue.pause', 'queue.resume', 'queue.delete', 'queue.purge', 'workflow.update',
  'schedule.pause', 'schedule.resume', 'service.scale')`;

const marksText = statement(
  `select * from (
     select kind, ${ms("at")} as "atMs", ${ms("until")} as "untilMs", subject, text, actor from tuntas.series_mark
     where at < to_timestamp($2) and coalesce(until, at) >= to_timestamp($1)
     union all
     select 'configuration', ${ms("at")}, null, subject, action || coalesce(': ' || nullif(reason, ''), ''), actor from tuntas.audit
     where at >= to_timestamp($1) and at < to_timestamp($2) and action in ${configuring}
   ) marks order by "atMs" limit 1000`,
);
export const readMarks = (sql: Runner, fromMs: number, toMs: number) =>
  sql.run<Mark & {}>(marksText, [fromMs / 1000, toMs / 1000]);

const gapsText = statement(
  `select kind, ${ms("at")} as "atMs", ${ms("until")} as "untilMs", subject, text, actor from tuntas.series_mark
   where kind = 'gap' and at < to_timestamp($2) and until >= to_timestamp($1) order by at limit 1000`,
);
export const readGaps = (sql: Runner, fromMs: number, toMs: number) =>
  sql.run<Mark & {}>(gapsText, [fromMs / 1000, toMs / 1000]);

// The hour before: figures that a day of the shop would have left behind, for pictures of what is drawn over time.
import type { Platform } from "tuntas";

interface Figure {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly kind: "gauge" | "counter";
  /** What was seen in the bucket so many ten seconds ago. */
  readonly valueAt: (ago: number) => number;
}

const buckets = 360;

/** A calm tide with some unrest, the same at every run. */
const tide = (ago: number, phase: number): number =>
  1 + 0.35 * Math.sin((ago + phase) / 38) + 0.12 * Math.sin(ago / 5.3) + 0.06 * Math.sin(ago * 1.7);

/** A stall of some minutes, half an hour ago. */
const stalled = (ago: number): boolean => ago > 168 && ago < 204;

const figuresOf = (queue: string): readonly Figure[] => [
  {
    name: "tuntas_worker_attempts_total",
    labels: { queue, outcome: "done" },
    kind: "counter",
    valueAt: (ago) => Math.round((stalled(ago) ? 9 : 64) * tide(ago, 0)),
  },
  {
    name: "tuntas_worker_attempts_total",
    labels: { queue, outcome: "retry" },
    kind: "counter",
    valueAt: (ago) => Math.round((stalled(ago) ? 26 : 2) * tide(ago, 20)),
  },
  {
    name: "tuntas_queue_depth",
    labels: { queue, state: "ready" },
    kind: "gauge",
    valueAt: (ago) =>
      Math.round(34 * tide(ago, 40) + (ago < 204 && ago > 100 ? (104 - Math.abs(ago - 168)) * 9 : 0)),
  },
  {
    name: "tuntas_queue_oldest_age_seconds",
    labels: { queue },
    kind: "gauge",
    valueAt: (ago) =>
      Math.max(1, 4 * tide(ago, 10) + (ago < 204 && ago > 110 ? (94 - Math.abs(ago - 168)) * 3 : 0)),
  },
];

const seriesText = (schema: string) =>
  `insert into ${schema}.series (name, labels, kind, created_at) values ($1, $2, $3, now() - interval '1 hour')
   on conflict (name, labels) do update set kind = excluded.kind returning id`;

// The minute's buckets add up what the six of ten seconds say, as they do in earnest.
const pointsText = (schema: string) =>
  `insert into ${schema}.series_point (series_id, width_seconds, at, samples, total, least, greatest, latest)
   select $1, w, to_timestamp(floor((extract(epoch from now()) - ago * 10) / w) * w), count(*), sum(v), min(v), max(v),
     (array_agg(v order by ago))[1]
   from unnest($2::float8[]) with ordinality as u(v, ago), unnest(array[10, 60]) w group by 2, 3 on conflict do nothing`;

const marksText = (schema: string) =>
  `insert into ${schema}.series_mark (kind, at, subject, text) values
   ('deployment', now() - interval '34 minutes', 'shop', '2026.11.3'),
   ('deployment', now() - interval '27 minutes', 'shop', '2026.11.4')`;

/** Writes the hour before the queue's opening. */
export async function recall({ database }: Platform, queue: string): Promise<void> {
  const { schema } = database;
  await database.transaction(async ({ client }) => {
    for (const { name, labels, kind, valueAt } of figuresOf(queue)) {
      const { rows } = await client.query(seriesText(schema), [name, JSON.stringify(labels), kind]);
      const values = Array.from({ length: buckets }, (_, index) => valueAt(index + 1));
      await client.query(pointsText(schema), [rows[0].id, values]);
    }
    await client.query(marksText(schema));
  });
}

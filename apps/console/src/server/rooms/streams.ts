// Streams: how far each consumer has read each partition, what it could not handle, and what people do about it, as JSON.
import type { Who } from "tuntas/access";
import type { Series } from "tuntas/series";
import type {
  Act,
  ConsumerName,
  ConsumerReport,
  PartitionReport,
  RewindTo,
  StreamReport,
} from "tuntas/stream";
import type {
  ConsumerPartition,
  ConsumerStanding,
  ConsumerView,
  PartitionStanding,
  StreamActs,
  StreamReads,
  StreamSummary,
} from "../../api/index.ts";
import type { Fields } from "../fields.ts";
import { makeMasking } from "../masking.ts";
import type { ActsOf, Needs, ReadsOf } from "../needs.ts";
import { paged } from "./queues.ts";

const pageMax = 200;
const paceMs = 300_000;
const partitionMax = 255;
/** The last instant that JavaScript knows. */
const instantMax = 8_640_000_000_000_000;

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

function partitionStanding(
  { stoppedAtMs, owner, attempts, lag, lagMs }: PartitionReport,
  lagWithinMs: number,
): PartitionStanding {
  if (stoppedAtMs !== null) return "stopped";
  if (owner === null && lag > 0) return "nobody reads";
  if (attempts > 0) return "tried again";
  if (lagMs !== null && lagMs > lagWithinMs) return "behind";
  return lag > 0 ? "reading" : "all read";
}

/** The worst first. */
const standings: readonly ConsumerStanding[] = ["stopped", "nobody reads", "behind", "parked", "on time"];

export function standingOf({ partitions, members, lag, behind, parked }: ConsumerReport): ConsumerStanding {
  if (partitions.some(({ stoppedAtMs }) => stoppedAtMs !== null)) return "stopped";
  if (members === 0 && lag > 0) return "nobody reads";
  if (behind) return "behind";
  return parked > 0 ? "parked" : "on time";
}

function consumerView({ partitions, ...of }: ConsumerReport, perSecond: number): ConsumerView {
  const partitionView = (each: PartitionReport): ConsumerPartition => ({
    ...each,
    standing: partitionStanding(each, of.lagWithinMs),
  });
  return {
    ...of,
    standing: standingOf({ ...of, partitions }),
    perSecond,
    partitions: partitions.map(partitionView),
  };
}

function summaryOf(
  { name, partitions, records, owner, runbook, consumers }: StreamReport,
  perSecond: number,
): StreamSummary {
  const stands = consumers.map(standingOf);
  const ages = consumers.flatMap(({ lagMs }) => lagMs ?? []);
  const stopped = consumers
    .flatMap((each) => each.partitions)
    .filter(({ stoppedAtMs }) => stoppedAtMs !== null);
  return {
    name,
    partitions,
    records,
    owner,
    runbook,
    perSecond,
    standing: standings.find((each) => stands.includes(each)) ?? "not read",
    consumers: consumers.length,
    lag: Math.max(0, ...consumers.map(({ lag }) => lag)),
    lagMs: ages.length === 0 ? null : Math.max(...ages),
    parked: sum(consumers.map(({ parked }) => parked)),
    stopped: stopped.length,
  };
}

type Rate = (labels: Readonly<Record<string, string>>) => number;

/** How much a counter went up in a second, of the series with these labels; in the last five minutes. */
async function ratesOf({ platform: { series } }: Needs, name: string, labels = {}): Promise<Rate> {
  const toMs = await series.nowMs();
  const all = await series.read({ name, labels, fromMs: toMs - paceMs, toMs, stepMs: paceMs / 5 });
  const fits = (of: Series, wanted: object) =>
    Object.entries(wanted).every(([label, value]) => of.labels[label] === value);
  return (wanted) =>
    sum(all.filter((each) => fits(each, wanted)).flatMap(({ points }) => points.map((point) => point.sum))) /
    (paceMs / 1000);
}

export function streamReads(needs: Needs): ReadsOf<keyof StreamReads> {
  const { streams, workflows } = needs.platform;
  return {
    async streams() {
      const [all, rate] = await Promise.all([streams.list(), ratesOf(needs, "tuntas_stream_appended_total")]);
      return all.map((each) => summaryOf(each, rate({ stream: each.name })));
    },
    async stream(query) {
      const name = query.text("stream");
      const [report, hot, appended, handled] = await Promise.all([
        streams.find(name),
        streams.hot(name),
        ratesOf(needs, "tuntas_stream_appended_total", { stream: name }),
        ratesOf(needs, "tuntas_stream_records_total", { stream: name }),
      ]);
      const { key, retentionMs, offsets, consumers } = report;
      const readers = consumers.map((each) => consumerView(each, handled({ consumer: each.name })));
      const worst = ({ standing }: ConsumerView) => standings.indexOf(standing);
      return {
        ...summaryOf(report, appended({})),
        key,
        retentionMs,
        offsets,
        nowMs: workflows.nowMs(),
        readers: readers.toSorted((one, other) => worst(one) - worst(other)),
        hot,
      };
    },
    async "stream.parked"(query, who) {
      const stream = query.text("stream");
      const mask = makeMasking(needs, who, "stream");
      const rows = await streams.parked(stream, {
        consumer: query.optional("consumer"),
        before: query.optionalId("after"),
        limit: pageMax + 1,
      });
      const shown = rows.map(async (row) => ({ ...row, body: await mask(stream, row.body) }));
      return paged(await Promise.all(shown), pageMax, (last) => last.id);
    },
    async "stream.record"(query, who) {
      const stream = query.text("stream");
      const partition = query.whole("partition", { min: 0, max: partitionMax });
      const offset = query.whole("offset", { min: 0, max: Number.MAX_SAFE_INTEGER });
      const [record] = await streams.records(stream, { partition, offset, limit: 1 });
      if (record?.offset !== offset) return { record: null };
      return { record: { ...record, body: await makeMasking(needs, who, "stream")(stream, record.body) } };
    },
  };
}

/** Errors: TUNTAS_CONSOLE_REQUEST. */
function placeOf(body: Fields): RewindTo {
  const to = body.oneOf("to", ["start", "end", "instant", "offset"]);
  if (to === "instant") return { instantMs: body.whole("instantMs", { min: 0, max: instantMax }) };
  if (to !== "offset") return { to };
  return {
    partition: body.whole("partition", { min: 0, max: partitionMax }),
    offset: body.whole("offset", { min: 0, max: Number.MAX_SAFE_INTEGER }),
  };
}

export function streamActs({ platform: { streams } }: Needs): ActsOf<keyof StreamActs> {
  const act = <T>(work: (of: ConsumerName, by: Act, body: Fields) => Promise<T>) => ({
    may: "stream.change" as const,
    run: (body: Fields, { name }: Who) =>
      work(
        { stream: body.text("stream"), consumer: body.text("consumer") },
        { by: name, reason: body.text("reason") },
        body,
      ),
  });
  return {
    "stream.rewind": act(async (of, by, body) => {
      await streams.rewind(of, placeOf(body), by);
      return of;
    }),
    "stream.resume": act(async (of, by) => ({ partitions: await streams.resume(of, by) })),
    "stream.replay": act(async (of, by, body) => ({
      ids: await streams.replay({ ...of, ids: body.ids("ids") }, by),
    })),
    "stream.discard": act(async (of, by, body) => ({
      ids: await streams.discard({ ...of, ids: body.ids("ids") }, by),
    })),
    "stream.forget": act(async (of, by) => {
      await streams.forget(of, by);
      return of;
    }),
  };
}

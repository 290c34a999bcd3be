// The figures that the panels are made of, read from the series, the rooms and the record of deployments.
import { readDurations, type MeasuredHandler } from "tuntas/measure";
import { defaultScope } from "tuntas/queue";
import type { Series } from "tuntas/series";
import type { PanelReads } from "../../api/index.ts";
import { grouped } from "../grouped.ts";
import type { Needs, ReadsOf } from "../needs.ts";
import { apiPanel, releasePanel, workerPanel, type PanelFacts, type Processes } from "../panels.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const lately = 5 * minuteMs;
const twoWeeksMs = 14 * 24 * hourMs;
const alarmsMax = 500;
/** A heartbeat comes once a second. */
const lateMs = 5000;

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
const countOf = (all: readonly Series[]): number =>
  sum(all.flatMap(({ points }) => points.map((point) => point.sum)));

type Reader = (name: string, overMs: number) => Promise<readonly Series[]>;

function readerAt({ platform: { series } }: Needs, nowMs: number): Reader {
  return (name, overMs) => series.read({ name, fromMs: nowMs - overMs, toMs: nowMs, stepMs: minuteMs });
}

async function processesOf({ platform: { queues } }: Needs, read: Reader): Promise<Processes> {
  const live = await queues.observer.processes();
  const [cpu, memory] = await Promise.all([
    read("tuntas_process_cpu_seconds_total", lately),
    read("tuntas_process_memory_bytes", lately),
  ]);
  const sizes = memory.flatMap(({ points }) => points.slice(-1).map(({ last }) => last));
  return {
    running: live.length,
    late: live.filter(({ heartbeatAgeMs }) => heartbeatAgeMs > lateMs).length,
    cpu: cpu.length === 0 ? null : countOf(cpu) / (lately / 1000),
    memoryBytes: sizes.length === 0 ? null : Math.max(...sizes),
  };
}

async function queuesOf({ platform: { queues } }: Needs): Promise<PanelFacts["queues"]> {
  const surveyed = await queues.observer.surveyAll(defaultScope);
  const working = surveyed.filter(({ isDeadLetterQueue }) => !isDeadLetterQueue);
  const ages = working.flatMap(({ oldestAgeMs }) => oldestAgeMs ?? []);
  return {
    ready: sum(working.map(({ ready }) => ready)),
    oldestMs: ages.length === 0 ? null : Math.max(...ages),
    dead: sum(working.map(({ dead, quarantined }) => dead + quarantined)),
    workers: sum(working.map(({ consumers }) => consumers)),
  };
}

async function failuresOf(read: Reader): Promise<PanelFacts["failures"]> {
  const names = ["tuntas_worker_retryable_failures_total", "tuntas_worker_poison_messages_total"];
  const all = (await Promise.all(names.map((name) => read(name, hourMs)))).flat();
  const byCode = grouped(all, ({ labels }) => labels.code ?? "");
  return [...byCode]
    .map(([code, own]) => [code, countOf(own)] as const)
    .filter(([, count]) => count > 0)
    .toSorted(([, one], [, other]) => other - one);
}

const isCall = ({ handler }: MeasuredHandler): boolean =>
  handler.includes(" ") && !handler.startsWith("http ");

/** Of those that it is true of, the one with the most attempts. */
const busiest = (measured: readonly MeasuredHandler[], fits: (handler: MeasuredHandler) => boolean) =>
  measured.filter(fits).toSorted((one, other) => other.attempts - one.attempts)[0];

async function callsOf(read: Reader): Promise<{ calls: number; failed: number }> {
  const all = await read("tuntas_side_effect_calls_total", hourMs);
  return { calls: countOf(all), failed: countOf(all.filter(({ labels }) => labels.state !== "succeeded")) };
}

async function releasesOf({ platform: { series, alarms } }: Needs, nowMs: number) {
  const marks = await series.marks({ fromMs: nowMs - twoWeeksMs, toMs: nowMs });
  const reports = await alarms.list();
  const paging = new Set(reports.filter(({ severity }) => severity === "page").map(({ name }) => name));
  const changes = await alarms.history({ limit: alarmsMax });
  return {
    releases: marks
      .filter(({ kind }) => kind === "deployment")
      .map(({ text, atMs }) => ({ revision: text, atMs })),
    alarmsAtMs: changes
      .filter(({ name, state, test }) => state === "ALARM" && !test && paging.has(name))
      .map(({ atMs }) => atMs),
    firing: reports.filter(({ state }) => state === "ALARM").length,
  };
}

async function factsOf(needs: Needs): Promise<PanelFacts> {
  const nowMs = await needs.platform.series.nowMs();
  const read = readerAt(needs, nowMs);
  const measured = await readDurations(needs.platform.database, { days: 1 / 24 });
  const requests = grouped(
    await read("tuntas_http_requests_total", lately),
    ({ labels }) => labels.class ?? "",
  );
  const attempts = await read("tuntas_worker_attempts_total", lately);
  return {
    nowMs,
    processes: await processesOf(needs, read),
    requests: Object.fromEntries([...requests].map(([name, own]) => [name, countOf(own)])),
    requestLatency: busiest(measured, ({ handler }) => handler.startsWith("http ")),
    queues: await queuesOf(needs),
    donePerMinute: countOf(attempts.filter(({ labels }) => labels.outcome === "done")) / 5,
    failures: await failuresOf(read),
    handlerLatency: busiest(measured, (each) => !isCall(each) && !each.handler.startsWith("http ")),
    downstream: { latency: busiest(measured, isCall), ...(await callsOf(read)) },
    ...(await releasesOf(needs, nowMs)),
    digest: process.env.TUNTAS_IMAGE_DIGEST,
  };
}

export const panelReads = (needs: Needs): ReadsOf<keyof PanelReads> => ({
  // The room of the checklists is large, and nobody else here needs it.
  health: async () => (await import("tuntas/readiness")).readHealth(needs.platform),
  async panels() {
    const facts = await factsOf(needs);
    return { api: apiPanel(facts), workers: workerPanel(facts), release: releasePanel(facts) };
  },
});

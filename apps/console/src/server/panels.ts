// The panels of a service, its workers and its releases, from figures. Pure: what was read comes in, widgets go out.
import type { PanelFigure } from "../api/index.ts";

/** What half, 95 and 99 of a hundred took at most. */
export interface Latency {
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
}

export interface Processes {
  readonly running: number;
  /** Of them, those whose heartbeat is late. */
  readonly late: number;
  /** Of the last five minutes, in processors; null where nothing was told. */
  readonly cpu: number | null;
  readonly memoryBytes: number | null;
}

export interface Release {
  readonly revision: string;
  readonly atMs: number;
}

export interface PanelFacts {
  readonly nowMs: number;
  readonly processes: Processes;
  /** Of the last five minutes, by the class of the status. */
  readonly requests: Readonly<Record<string, number>>;
  readonly requestLatency: Latency | undefined;
  readonly queues: {
    readonly ready: number;
    readonly oldestMs: number | null;
    readonly dead: number;
    readonly workers: number;
  };
  /** Of the last five minutes. */
  readonly donePerMinute: number;
  /** Failed attempts of the last hour by code, the most frequent first. */
  readonly failures: readonly (readonly [code: string, count: number])[];
  readonly handlerLatency: Latency | undefined;
  readonly downstream: {
    readonly latency: Latency | undefined;
    readonly calls: number;
    readonly failed: number;
  };
  /** Of the last two weeks, the oldest first. */
  readonly releases: readonly Release[];
  /** When alarms that page somebody went off in that time. */
  readonly alarmsAtMs: readonly number[];
  readonly firing: number;
  /** What was deployed, by its content (TUNTAS_IMAGE_DIGEST). */
  readonly digest: string | undefined;
}

const graceMs = 600_000;
const number = (value: number, digits = 0): string =>
  value.toLocaleString("en", { maximumFractionDigits: digits });
const share = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);
const percent = (value: number): string => `${number(value * 100, value < 0.1 ? 1 : 0)} %`;

function span(ms: number): string {
  if (ms < 1000) return `${number(ms)} ms`;
  if (ms < 120_000) return `${number(ms / 1000, 1)} s`;
  return ms < 7_200_000 ? `${number(ms / 60_000)} min` : `${number(ms / 3_600_000)} h`;
}

const figure = (
  name: string,
  value: string | null,
  note: string,
  fine: boolean | null = null,
): PanelFigure => ({ name, value, note, fine });

const latencyOf = (name: string, latency: Latency | undefined, unmeasured: string): PanelFigure =>
  latency
    ? figure(name, span(latency.p50Ms), `p95 ${span(latency.p95Ms)}, p99 ${span(latency.p99Ms)}`)
    : figure(name, null, unmeasured);

const machineOf = ({ cpu, memoryBytes }: Processes): PanelFigure =>
  figure(
    "CPU and memory",
    cpu === null ? null : `${number(cpu, 2)} CPU`,
    memoryBytes === null ? "told while there is work" : `${number(memoryBytes / 1_048_576)} MB a process`,
  );

const runningOf = ({ running }: Processes): PanelFigure =>
  figure("Running", number(running), "how many are wanted, whoever starts them knows", running > 0);

const last = (releases: readonly Release[]): Release | undefined => releases.at(-1);

export function apiPanel(facts: PanelFacts): PanelFigure[] {
  const { requests, requestLatency, processes, releases, nowMs } = facts;
  const all = Object.values(requests).reduce((sum, count) => sum + count, 0);
  const [bad, broken] = [requests["4xx"] ?? 0, requests["5xx"] ?? 0];
  const { running, late } = processes;
  const newest = last(releases);
  return [
    figure("Requests", number(all / 5, 1), "a minute, of the last five"),
    latencyOf("Response time", requestLatency, "no request was measured in this hour"),
    figure("4xx and 5xx", `${number(bad)}, ${number(broken)}`, "in five minutes", broken === 0),
    figure("Healthy", `${number(running - late)} of ${number(running)}`, "have a heartbeat", late === 0),
    runningOf(processes),
    machineOf(processes),
    figure(
      "Deployments",
      number(releases.filter(({ atMs }) => nowMs - atMs < 86_400_000).length),
      newest ? `in a day; the last is ${newest.revision}` : "in a day; TUNTAS_REVISION names them",
    ),
    figure("Errors", percent(share(broken, all)), "of requests end with 5xx", share(broken, all) < 0.01),
    figure("Logs", "correlationId", "in each line, from the request to the last step"),
  ];
}

export function workerPanel(facts: PanelFacts): PanelFigure[] {
  const { queues, donePerMinute, failures, handlerLatency, downstream, processes } = facts;
  const { ready, oldestMs, dead, workers } = queues;
  const failed = failures.reduce((sum, [, count]) => sum + count, 0);
  const named = failures.slice(0, 3).map(([code, count]) => `${code} ${number(count)}`);
  const { latency, calls, failed: lost } = downstream;
  return [
    figure("Visible", number(ready), "messages are ready"),
    figure(
      "Oldest",
      oldestMs === null ? "–" : span(oldestMs),
      "300 s is where the alarm goes off",
      (oldestMs ?? 0) <= 300_000,
    ),
    figure("Dead letters", number(dead), "wait for a person", dead === 0),
    figure("Running", number(workers), "workers, over all queues", ready === 0 || workers > 0),
    figure("Processed", number(donePerMinute, 1), "a minute, of the last five"),
    figure(
      "Failures by type",
      number(failed),
      named.join(", ") || "none in an hour",
      failed === 0 ? true : null,
    ),
    latencyOf("Latency", handlerLatency, "no attempt was measured in this hour"),
    machineOf(processes),
    figure(
      "Downstream",
      latency ? span(latency.p50Ms) : null,
      `${percent(share(lost, calls))} of ${number(calls)} calls failed in an hour`,
      calls === 0 ? null : share(lost, calls) < 0.05,
    ),
  ];
}

/** A release after which nobody was paged for ten minutes, or until the next one. */
function wasGood({ releases, alarmsAtMs, nowMs }: PanelFacts, index: number): boolean {
  const { atMs } = releases[index]!;
  const untilMs = Math.min(atMs + graceMs, releases[index + 1]?.atMs ?? nowMs);
  return !alarmsAtMs.some((alarmAtMs) => alarmAtMs >= atMs && alarmAtMs < untilMs);
}

/** A release of what had been released before another: somebody went back. */
const rollbackIn = (releases: readonly Release[]): Release | undefined =>
  releases.findLast(({ revision }, index) =>
    releases.slice(0, Math.max(0, index - 1)).some((before) => before.revision === revision),
  );

export function releasePanel(facts: PanelFacts): PanelFigure[] {
  const { releases, firing, nowMs, digest } = facts;
  const newest = last(releases);
  const ago = (release: Release | undefined): string =>
    release ? `${span(nowMs - release.atMs)} ago` : "TUNTAS_REVISION names it";
  const good = releases.findLast((_, index) => wasGood(facts, index));
  const settles = newest !== undefined && nowMs - newest.atMs < graceMs;
  const isGood = newest === undefined || newest === good;
  const rollback = rollbackIn(releases);
  return [
    figure("Revision", newest?.revision ?? null, ago(newest)),
    figure(
      "Image digest",
      digest ?? null,
      digest ? "of the process that serves this page" : "TUNTAS_IMAGE_DIGEST names it",
    ),
    figure(
      "Status",
      newest ? (isGood ? (settles ? "settling" : "steady") : "in trouble") : null,
      isGood ? "nobody was paged since" : "somebody was paged within ten minutes",
      isGood,
    ),
    figure("Last good", good?.revision ?? null, ago(good)),
    figure(
      "Rollback",
      rollback?.revision ?? "none",
      rollback ? ago(rollback) : "in two weeks",
      rollback === undefined,
    ),
    figure("Alarms", number(firing), firing === 0 ? "none goes off" : "go off now", firing === 0),
  ];
}

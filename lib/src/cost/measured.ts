// What is known of the work here: the time series of the last days, by the hour, and the histories of the last executions.
import type { Platform } from "../platform.ts";
import type { Row } from "../pg/contract.ts";
import { statement } from "../pg/database.ts";
import type { Point, Series } from "../series/contract.ts";
import { eventsOf } from "../workflow/store/events.ts";
import type { Measured, QueueUse, ServiceUse, WorkflowUse } from "./contract.ts";

const hourMs = 3_600_000;
const mib = 1_048_576;

const names = [
  "tuntas_queue_messages_total",
  "tuntas_worker_processes",
  "tuntas_service_instances",
  "tuntas_process_memory_bytes",
  "tuntas_process_cpu_seconds_total",
  "tuntas_workflow_executions_total",
  "tuntas_http_requests_total",
  "tuntas_log_bytes_total",
  "tuntas_downstream_calls_total",
  "tuntas_side_effect_calls_total",
];

/** Series by metric, and how many hours they reach back. */
interface Read {
  readonly hours: number;
  of(name: string): readonly Series[];
}

async function readHours({ series }: Platform, days: number): Promise<Read> {
  const toMs = await series.nowMs();
  const all = await series.readAll({ names, fromMs: toMs - days * 24 * hourMs, toMs, stepMs: hourMs });
  const seen = all.flatMap(({ points }) => points.filter(({ samples }) => samples > 0));
  const firstMs = seen.reduce((least, { atMs }) => Math.min(least, atMs), toMs);
  // An hour that has begun counts whole: what was counted in a minute is not sixty times as much.
  return {
    hours: Math.ceil((toMs - firstMs) / hourMs),
    of: (name) => all.filter((each) => each.name === name),
  };
}

const total = (points: readonly Point[]): number => points.reduce((sum, each) => sum + each.sum, 0);

const average = (points: readonly Point[]): number =>
  points.length === 0 ? 0 : points.reduce((sum, { last }) => sum + last, 0) / points.length;

const most = (points: readonly Point[], of: (point: Point) => number): number =>
  points.reduce((max, point) => Math.max(max, of(point)), 0);

const pointsOf = (all: readonly Series[]): readonly Point[] => all.flatMap(({ points }) => points);

/** Node 20 has no Map.groupBy. */
function grouped<T>(all: readonly T[], keyOf: (each: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const each of all) {
    const group = groups.get(keyOf(each));
    if (group) group.push(each);
    else groups.set(keyOf(each), [each]);
  }
  return groups;
}

const byLabel = (all: readonly Series[], label: string): ReadonlyMap<string, readonly Series[]> =>
  grouped(all, ({ labels }) => labels[label] ?? "");

const ofEvents = (all: readonly Series[], events: readonly string[]): readonly Point[] =>
  pointsOf(all.filter(({ labels }) => events.includes(labels.event ?? "")));

function queueUses(read: Read): Measured["queues"] {
  const processes = byLabel(read.of("tuntas_worker_processes"), "queue");
  const uses = [...byLabel(read.of("tuntas_queue_messages_total"), "queue")].map(
    ([queue, all]): [string, QueueUse] => {
      const received = ofEvents(all, ["received", "handed_over"]);
      const busy = new Set(received.filter(({ sum }) => sum > 0).map(({ atMs }) => atMs));
      return [
        queue,
        {
          sent: total(ofEvents(all, ["sent"])),
          received: total(received),
          idleShare: 1 - Math.min(1, busy.size / read.hours),
          processes: average(pointsOf(processes.get(queue) ?? [])),
        },
      ];
    },
  );
  return new Map(uses);
}

function serviceUses(read: Read): Measured["services"] {
  const running = read.of("tuntas_service_instances").filter(({ labels }) => labels.state === "running");
  const memory = byLabel(read.of("tuntas_process_memory_bytes"), "service");
  const cpu = byLabel(read.of("tuntas_process_cpu_seconds_total"), "service");
  const uses = [...byLabel(running, "service")].map(([service, all]): [string, ServiceUse] => {
    const instances = average(pointsOf(all));
    const seconds = most(pointsOf(cpu.get(service) ?? []), ({ sum }) => sum);
    return [
      service,
      {
        instances,
        cpuUnits: ((seconds / 3600) * 1024) / Math.max(1, instances),
        memoryMiB: most(pointsOf(memory.get(service) ?? []), ({ max }) => max) / mib,
      },
    ];
  });
  return new Map(uses);
}

// The last fifty of each machine: what an execution goes through changes with its definition, not by the hour.
const historyText = statement(
  `select m.name, e.id::text as execution, h.events from tuntas.machine m
     cross join lateral (select x.id from tuntas.execution x
       where x.machine_id = m.id and x.stopped_at is not null order by x.id desc limit 50) e
     join tuntas.execution_history h on h.execution_id = e.id
   where m.type = 'STANDARD'`,
);

/** A state that is entered, and a task that is tried again: both are paid for. Source: "AWS Step Functions pricing". */
function transitionsIn(events: readonly string[]): number {
  const count = (pattern: RegExp) => events.filter((type) => pattern.test(type)).length;
  const tries = count(/^(Task|LambdaFunction|Activity)Scheduled$/);
  return count(/StateEntered$/) + Math.max(0, tries - count(/^TaskStateEntered$/));
}

async function readTransitions({ database }: Platform): Promise<ReadonlyMap<string, number>> {
  const rows = await database.run<Row & { name: string; execution: string; events: string }>(historyText, []);
  const averages = [...grouped(rows, ({ name }) => name)].map(([name, all]): [string, number] => {
    const each = [...grouped(all, ({ execution }) => execution).values()].map((parts) =>
      transitionsIn(parts.flatMap(({ events }) => eventsOf(events).map(({ type }) => type))),
    );
    return [name, each.reduce((sum, count) => sum + count, 0) / each.length];
  });
  return new Map(averages);
}

function workflowUses(read: Read, transitions: ReadonlyMap<string, number>): Measured["workflows"] {
  const started = read
    .of("tuntas_workflow_executions_total")
    .filter(({ labels }) => labels.status === "STARTED");
  const counted = byLabel(started, "workflow");
  const known = new Set([...counted.keys(), ...transitions.keys()]);
  const uses = [...known].map((name): [string, WorkflowUse] => [
    name,
    {
      executions: total(pointsOf(counted.get(name) ?? [])),
      transitionsEach: transitions.get(name) ?? null,
    },
  ]);
  return new Map(uses);
}

const seriesText = statement(
  `select name, count(*)::integer as count from tuntas.series s
   where exists (select from tuntas.series_point p where p.series_id = s.id and p.width_seconds = 900) group by name`,
);

const startsText = statement(
  `select count(*)::integer as count from tuntas.service_instance
   where started_at > tuntas.now() - make_interval(hours => $1::integer)`,
);

/** What was seen in the last days; at most 15 are kept. Changes nothing. */
export async function readMeasured(platform: Platform, days: number): Promise<Measured> {
  const { database } = platform;
  const read = await readHours(platform, days);
  const [transitions, series, [starts]] = await Promise.all([
    readTransitions(platform),
    database.run<Row & { name: string; count: number }>(seriesText, []),
    database.run<Row & { count: number }>(startsText, [read.hours]),
  ]);
  const levels = byLabel(read.of("tuntas_log_bytes_total"), "level");
  return {
    hours: read.hours,
    queues: queueUses(read),
    services: serviceUses(read),
    workflows: workflowUses(read, transitions),
    requests: total(pointsOf(read.of("tuntas_http_requests_total"))),
    logBytes: new Map([...levels].map(([level, all]) => [level, total(pointsOf(all))])),
    series: new Map(series.map(({ name, count }) => [name, count])),
    calls: ["tuntas_downstream_calls_total", "tuntas_side_effect_calls_total"].reduce(
      (sum, name) => sum + total(pointsOf(read.of(name))),
      0,
    ),
    starts: starts?.count ?? 0,
  };
}

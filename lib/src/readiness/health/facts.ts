// What the ten conditions are judged by: services and what they answer now, queues as they stand and as they were, calls, connections.
import { unknownEffects } from "../../ledger/index.ts";
import type { Operation, OperationState } from "../../operation/contract.ts";
import type { Platform } from "../../platform.ts";
import { defaultScope } from "../../queue/contract.ts";
import type { QueueSurvey } from "../../queue/client/index.ts";
import type { Series } from "../../series/contract.ts";
import { checkConnections } from "../../service/index.ts";
import { readServices } from "../facts.ts";
import type { Calls, HealthFacts, QueueCourse } from "./contract.ts";
import { deadLetterKinds, handlingOf } from "./handling.ts";
import { limitsOf } from "./state.ts";

/** What of a platform is looked at. */
export type Watched = Pick<Platform, "alarms" | "database" | "operations" | "queues" | "series" | "services">;

const minuteMs = 60_000;
const courseMs = 10 * minuteMs;
const hourMs = 60 * minuteMs;
const operationsMax = 200;

const sumOf = (all: readonly Series[]): number =>
  all.flatMap(({ points }) => points).reduce((sum, point) => sum + point.sum, 0);

/** The series of each queue, by its name. */
function byQueue(all: readonly Series[]): ReadonlyMap<string | undefined, readonly Series[]> {
  const found = new Map<string | undefined, Series[]>();
  for (const each of all) {
    const { queue } = each.labels;
    const own = found.get(queue);
    if (own) own.push(each);
    else found.set(queue, [each]);
  }
  return found;
}

/** How much more there is now than ten minutes ago, or than when somebody looked first; null where nobody has. */
function growthOf(depths: readonly Series[] = [], { ready }: QueueSurvey): number | null {
  const [first] = depths.flatMap(({ points }) => points);
  return first ? ready - first.last : null;
}

/** All of this kind in this state. */
async function operationsOf(
  { operations }: Watched,
  filter: { readonly kind: string; readonly state: OperationState },
): Promise<Operation[]> {
  const all: Operation[] = [];
  for (let before: string | undefined; ; before = all.at(-1)!.id) {
    const page = await operations.list({ ...filter, before, limit: operationsMax });
    all.push(...page);
    if (page.length < operationsMax) return all;
  }
}

/** Operations upon dead letters that are under way, stand still or wait for a second pair of eyes. */
async function operationsNow(platform: Watched): Promise<readonly Operation[]> {
  const states = ["running", "paused", "awaiting_approval"] as const;
  const wanted = deadLetterKinds.flatMap((kind) => states.map((state) => ({ kind, state })));
  return (await Promise.all(wanted.map((filter) => operationsOf(platform, filter)))).flat();
}

/** A redrive that was asked for over the wire is no operation. */
async function moveOf({ queues }: Watched, deadLetterName: string | null): Promise<string | null> {
  if (deadLetterName === null) return null;
  const source = await queues.catalog.find(defaultScope, deadLetterName);
  const tasks = source ? await queues.moves.list(source, 1) : [];
  return tasks[0]?.status === "RUNNING" ? `redrive ${tasks[0].id} is running` : null;
}

async function readQueues(platform: Watched): Promise<QueueCourse[]> {
  const { queues, series } = platform;
  // Before the dead letters are counted: what is done meanwhile is then not missing from what is left to do.
  const operations = await operationsNow(platform);
  const surveyed = await queues.observer.surveyAll(defaultScope);
  const nowMs = await series.nowMs();
  const span = { fromMs: nowMs - courseMs, toMs: nowMs, stepMs: minuteMs };
  const [depths, sent] = await Promise.all([
    series.readAll({ names: ["tuntas_queue_depth"], labels: { state: "ready" }, ...span }).then(byQueue),
    series
      .readAll({ names: ["tuntas_queue_messages_total"], labels: { event: "sent" }, ...span })
      .then(byQueue),
  ]);
  const courseOf = async (queue: QueueSurvey): Promise<QueueCourse> => {
    const dead = queue.dead + queue.quarantined;
    const { handledBy, pending } = handlingOf(queue, operations);
    return {
      name: queue.name,
      paused: queue.pausedAtMs !== null,
      oldestAgeMs: queue.oldestAgeMs,
      came: sumOf(sent.get(queue.name) ?? []),
      grewBy: growthOf(depths.get(queue.name), queue),
      dead,
      handledBy: handledBy ?? (dead > 0 ? await moveOf(platform, queue.deadLetterName) : null),
      pending,
    };
  };
  return Promise.all(surveyed.filter(({ isDeadLetterQueue }) => !isDeadLetterQueue).map(courseOf));
}

async function readCalls({ series, database }: Watched): Promise<Calls> {
  const nowMs = await series.nowMs();
  const span = { fromMs: nowMs - hourMs, toMs: nowMs, stepMs: minuteMs };
  const calls = await series.read({ name: "tuntas_side_effect_calls_total", ...span });
  return {
    all: sumOf(calls),
    failed: sumOf(calls.filter(({ labels }) => labels.state !== "succeeded")),
    unknown: (await unknownEffects(database)).length,
  };
}

/** What the alarms allow, the shipped ones or those that an application declares in their place. */
async function readLimits({ alarms }: Watched): Promise<HealthFacts["limits"]> {
  const [oldest, rising] = await Promise.all([
    alarms.definition("oldest-message"),
    alarms.definition("backlog-rising"),
  ]);
  return limitsOf(oldest.options, rising.options);
}

/** Changes nothing. */
export async function readHealthFacts(platform: Watched): Promise<HealthFacts> {
  const [services, queues, calls, limits] = await Promise.all([
    readServices(platform),
    readQueues(platform),
    readCalls(platform),
    readLimits(platform),
  ]);
  const active = [...services.values()].filter(({ report }) => report.active);
  const deployed = Object.fromEntries(active.map(({ report }) => [report.name, report.definition]));
  const connections = await checkConnections(platform.database, deployed);
  return { services: active, queues, calls, limits, connections };
}

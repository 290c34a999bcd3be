// What the ten conditions are judged by: services and what they answer now, queues as they stand and as they were, calls, connections.
import { unknownEffects } from "../../ledger/index.ts";
import type { Operation } from "../../operation/contract.ts";
import type { Platform } from "../../platform.ts";
import { defaultScope } from "../../queue/contract.ts";
import type { QueueSurvey } from "../../queue/client/index.ts";
import type { Series } from "../../series/contract.ts";
import { checkConnections } from "../../service/index.ts";
import { readServices } from "../facts.ts";
import type { Calls, HealthFacts, QueueCourse } from "./contract.ts";

/** What of a platform is looked at. */
export type Watched = Pick<Platform, "alarms" | "database" | "operations" | "queues" | "series" | "services">;

const minuteMs = 60_000;
const courseMs = 10 * minuteMs;
const hourMs = 60 * minuteMs;
const queuesMax = 500;
const operationsMax = 200;

const sumOf = (all: readonly Series[]): number =>
  all.flatMap(({ points }) => points).reduce((sum, point) => sum + point.sum, 0);

const ofQueue = (all: readonly Series[], queue: string): readonly Series[] =>
  all.filter(({ labels }) => labels.queue === queue);

/** How much more there is now than ten minutes ago, or than when somebody looked first. */
function growthOf(depths: readonly Series[], { name, ready }: QueueSurvey): number {
  const [first] = ofQueue(depths, name).flatMap(({ points }) => points);
  return first ? ready - first.last : 0;
}

type Selected = { readonly filter?: { readonly queue?: string }; readonly from?: string };

/** Whether the operation is done to dead letters of the queue. */
function concerns({ kind, selection }: Operation, { name, deadLetterName }: QueueSurvey): boolean {
  if (!["replay", "move", "reject"].includes(kind)) return false;
  const { filter, from } = selection as Selected;
  const queue = filter?.queue ?? from;
  return queue === undefined || queue === name || queue === deadLetterName;
}

/** Operations that are under way or wait for a second pair of eyes. */
async function operationsNow({ operations }: Watched): Promise<readonly Operation[]> {
  const states = ["running", "paused", "awaiting_approval"] as const;
  const pages = states.map((state) => operations.list({ state, limit: operationsMax }));
  return (await Promise.all(pages)).flat();
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
  const page = { search: "", after: "", limit: queuesMax };
  const surveyed = await queues.observer.survey(defaultScope, page);
  const nowMs = await series.nowMs();
  const span = { fromMs: nowMs - courseMs, toMs: nowMs, stepMs: minuteMs };
  const [depths, sent, operations] = await Promise.all([
    series.readAll({ names: ["tuntas_queue_depth"], labels: { state: "ready" }, ...span }),
    series.readAll({ names: ["tuntas_queue_messages_total"], labels: { event: "sent" }, ...span }),
    operationsNow(platform),
  ]);
  const courseOf = async (queue: QueueSurvey): Promise<QueueCourse> => {
    const by = operations.find((operation) => concerns(operation, queue));
    const dead = queue.dead + queue.quarantined;
    return {
      name: queue.name,
      paused: queue.pausedAtMs !== null,
      oldestAgeMs: queue.oldestAgeMs,
      came: sumOf(ofQueue(sent, queue.name)),
      grewBy: growthOf(depths, queue),
      dead,
      handledBy: by
        ? `operation ${by.id} (${by.kind}) is ${by.state.replace("_", " ")}`
        : dead > 0
          ? await moveOf(platform, queue.deadLetterName)
          : null,
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

async function oldestMaxMs({ alarms }: Watched): Promise<number> {
  const { when } = (await alarms.definition("oldest-message")).options;
  return (Object.values(when)[0] as number) * 1000;
}

/** Changes nothing. */
export async function readHealthFacts(platform: Watched): Promise<HealthFacts> {
  const [services, queues, calls, limitMs] = await Promise.all([
    readServices(platform),
    readQueues(platform),
    readCalls(platform),
    oldestMaxMs(platform),
  ]);
  const active = [...services.values()].filter(({ report }) => report.active);
  const deployed = Object.fromEntries(active.map(({ report }) => [report.name, report.definition]));
  const connections = await checkConnections(platform.database, deployed);
  return { services: active, queues, calls, oldestMaxMs: limitMs, connections };
}

// The ten conditions, from facts. The first three and the last are of services, four to six of queues; seven to nine of what they use.
import type { AlarmOptions, Condition as When, MetricChoice } from "../../alarm/contract.ts";
import { roomOf } from "../../service/index.ts";
import type { LiveService } from "../contract.ts";
import type { Condition, Health, HealthFacts, Limits, QueueCourse, Verdict } from "./contract.ts";

type Looked = Omit<Condition, "id" | "says">;
type Look = (facts: HealthFacts) => Looked;

/** Above so much of a limit there is no room for a surge. */
const headroom = 0.8;
const failedMost = 0.05;
/** What a queue may grow by in ten minutes, where that is more than may wait in any case: so much of what came. */
const growthMost = 0.05;

/** Where an alarm of these names says something else, what is shipped holds. */
const limitsDefault: Limits = { oldestMaxMs: 300_000, waitingMax: 100 };

const boundOf = (metric: MetricChoice | undefined, when: When | undefined, wanted: string) =>
  metric?.name === wanted && when
    ? "above" in when
      ? when.above
      : "atLeast" in when
        ? when.atLeast
        : undefined
    : undefined;

/** From the alarms `oldest-message` and `backlog-rising`, as they are declared or shipped. */
export function limitsOf(oldest: AlarmOptions, { and: waiting }: AlarmOptions): Limits {
  const seconds = boundOf(oldest.metric, oldest.when, "tuntas_queue_oldest_age_seconds");
  return {
    oldestMaxMs: seconds === undefined ? limitsDefault.oldestMaxMs : seconds * 1000,
    waitingMax: boundOf(waiting?.metric, waiting?.when, "tuntas_queue_depth") ?? limitsDefault.waitingMax,
  };
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;
const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`;

const looked = (verdict: Verdict, found: string, remedy: string | null = null): Looked => ({
  verdict,
  found,
  remedy: verdict === "bad" ? remedy : null,
});

interface Words<T> {
  /** What is said where there is none of the kind. */
  readonly none: string;
  readonly isGood: (each: T) => boolean;
  readonly say: (each: T) => string;
  readonly remedy: (bad: readonly T[]) => string;
}

/** Good where all are; only those are named that are not. */
function each<T>(all: readonly T[], { none, isGood, say, remedy }: Words<T>, good: string): Looked {
  if (all.length === 0) return looked("unknown", none);
  const bad = all.filter((one) => !isGood(one));
  return bad.length === 0 ? looked("good", good) : looked("bad", bad.map(say).join("; "), remedy(bad));
}

const noService = "no service is deployed here";
const nameOf = ({ report }: LiveService): string => report.name;
const describeFirst = ([first]: readonly LiveService[]): string =>
  `tuntas service describe ${nameOf(first!)} says why`;

const hasTargets = ({ report }: LiveService): boolean =>
  report.controlled && report.healthy >= Math.max(1, roomOf(report.definition.rollout, report.desired).least);

const targets: Look = ({ services }) => {
  const serving = services.filter(
    ({ report: { definition, desired } }) => definition.portVariable !== null && desired > 0,
  );
  const say = ({ report: { name, healthy, desired, host, controlled } }: LiveService): string =>
    `${name}: ${healthy} of ${desired} healthy on ${host}${controlled ? "" : ", which runs no services now"}`;
  return each(
    serving,
    { none: "no service takes requests here", isGood: hasTargets, say, remedy: describeFirst },
    serving.map(say).join("; "),
  );
};

/** In a roll-out as many run as it allows. */
function isCounted({ report: { running, desired, deployment, definition } }: LiveService): boolean {
  if (deployment !== "in_progress") return running === desired;
  const { least, most } = roomOf(definition.rollout, desired);
  return running >= least && running <= Math.max(most, desired);
}

const counts: Look = ({ services }) => {
  const say = ({ report: { name, running, desired } }: LiveService): string =>
    `${name}: ${running} run of ${desired}`;
  return each(
    services,
    { none: noService, isGood: isCounted, say, remedy: describeFirst },
    services.map(say).join("; "),
  );
};

const revisions: Look = ({ services }) => {
  const say = ({ report: { name, revision, deployment, rollbackOf } }: LiveService): string =>
    `${name}: revision ${revision}${rollbackOf === null ? "" : ", rolled back to"}${deployment === "completed" ? "" : `, ${deployment.replace("_", " ")}`}`;
  return each(
    services,
    {
      none: noService,
      isGood: ({ report }) => report.rollbackOf === null && report.deployment !== "failed",
      say,
      remedy: describeFirst,
    },
    services.map(say).join("; "),
  );
};

const noQueue = "there is no queue";
const diagnoseFirst = ([first]: readonly QueueCourse[]): string =>
  first!.paused
    ? `tuntas queue resume ${first!.name} --reason "…"`
    : `tuntas queue diagnose ${first!.name} says what it waits for`;

const ages: Look = ({ queues, limits: { oldestMaxMs } }) =>
  each(
    queues,
    {
      none: noQueue,
      isGood: ({ oldestAgeMs }) => (oldestAgeMs ?? 0) <= oldestMaxMs,
      say: ({ name, oldestAgeMs, paused }) =>
        `${name}: ${seconds(oldestAgeMs ?? 0)}, ${seconds(oldestMaxMs)} is the limit${paused ? "; it is paused" : ""}`,
      remedy: diagnoseFirst,
    },
    `${seconds(Math.max(0, ...queues.map(({ oldestAgeMs }) => oldestAgeMs ?? 0)))} at most, ${seconds(oldestMaxMs)} is the limit`,
  );

const deadLetters: Look = ({ queues }) => {
  const dead = queues.filter((queue) => queue.dead > 0);
  const say = ({ name, dead: count, handledBy, pending }: QueueCourse): string =>
    [`${name}: ${count}`, ...((handledBy ?? pending) ? [handledBy ?? pending] : [])].join(", ");
  return each(
    queues,
    {
      none: noQueue,
      isGood: (queue) => queue.dead === 0 || queue.handledBy !== null,
      say,
      remedy: ([first]) => `tuntas dlq list --queue ${first!.name}, then replay or reject by cause`,
    },
    dead.length === 0 ? "none" : dead.map(say).join("; "),
  );
};

const countOf = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

const throughput: Look = ({ queues, limits: { waitingMax } }) => {
  const seen = queues.filter(({ grewBy }) => grewBy !== null);
  const unseen = queues.length - seen.length;
  const came = seen.reduce((sum, queue) => sum + queue.came, 0);
  const judged = each(
    seen,
    {
      none: queues.length === 0 ? noQueue : "nobody has looked at a queue for ten minutes",
      isGood: (queue) => queue.grewBy! <= Math.max(waitingMax, queue.came * growthMost),
      say: ({ name, grewBy, came: own }) =>
        `${name}: ${own} came in ten minutes, ${grewBy} more are ready than before`,
      remedy: diagnoseFirst,
    },
    `${came} came in ten minutes, and no queue grows`,
  );
  if (judged.verdict !== "good" || unseen === 0) return judged;
  return looked(
    "unknown",
    `${judged.found} of ${seen.length}; nobody has looked at ${countOf(unseen, "further one")} for ten minutes`,
  );
};

/** The fullest of an instance's limits, as a share; null before it was measured. */
function fullest({ report: { instances, definition } }: LiveService): number | null {
  const shares = instances
    .filter(({ state }) => state === "running")
    .flatMap(({ memoryBytes, cpuUnits }) => [
      ...(memoryBytes === null ? [] : [memoryBytes / (definition.memory.limit * 2 ** 20)]),
      ...(cpuUnits === null ? [] : [cpuUnits / definition.cpu.limit]),
    ]);
  return shares.length === 0 ? null : Math.max(...shares);
}

const room: Look = ({ services }) => {
  const measured = services.filter((service) => fullest(service) !== null);
  return each(
    measured,
    {
      none: services.length === 0 ? noService : "no instance was measured yet",
      isGood: (service) => fullest(service)! <= headroom,
      say: (service) => `${nameOf(service)}: an instance is at ${percent(fullest(service)!)} of a limit`,
      remedy: ([first]) =>
        `tuntas service describe ${nameOf(first!)}; raise its limit after a load test, or its count`,
    },
    `${percent(Math.max(0, ...measured.map((service) => fullest(service)!)))} of a limit at most, ${percent(headroom)} is ours`,
  );
};

const downstream: Look = ({ calls: { all, failed, unknown }, connections }) => {
  const share = all === 0 ? 0 : failed / all;
  const said = [
    all === 0 ? "no calls in an hour" : `${percent(share)} of ${all} calls failed in an hour`,
    ...(unknown === 0 ? [] : [`the end of ${unknown} is unknown`]),
    ...(connections ? [`${connections.total} of ${connections.available} connections at worst`] : []),
  ].join("; ");
  if (unknown > 0) return looked("bad", said, "tuntas effect list --state unknown, then ask or settle each");
  if (share > failedMost) return looked("bad", said, "tuntas effect list; lower the rate of what calls it");
  if (connections && !connections.fits) return looked("bad", said, "tuntas budget check says which to lower");
  return looked("good", said);
};

const correlation: Look = ({ services }) =>
  each(
    services.filter(({ probed }) => probed !== null && probed.status !== null),
    {
      none: "no service answers requests here",
      isGood: ({ probed }) => probed!.correlated,
      say: ({ report, probed }) => `${report.name}: ${probed!.url} does not answer with X-Correlation-Id`,
      remedy: () => "let it take the id of the request, log it and send it on (docs/recipes/http-service.md)",
    },
    "each service that was asked answered with the id of the request",
  );

const before = ({ report }: LiveService): boolean =>
  report.deployments.some(({ revision, state }) => revision < report.revision && state === "completed");
const goesBack = ({ report: { definition } }: LiveService): boolean =>
  definition.rollout.circuitBreaker?.rollback === true;

const rollbacks: Look = ({ services }) =>
  each(
    services.filter((service) => service.report.revision > 1),
    {
      none:
        services.length === 0 ? noService : "each is the first of its kind: there is nothing to go back to",
      isGood: (service) => before(service) && goesBack(service) && service.report.definition.version !== null,
      say: (service) =>
        `${nameOf(service)}: ${!before(service) ? "no earlier revision was ever whole" : goesBack(service) ? "its revisions have no version" : "its roll-out does not go back by itself"}`,
      remedy: () => "declare version and rollout.circuitBreaker: { rollback: true }, and deploy once more",
    },
    services
      .filter(before)
      .map((service) => `tuntas service rollback ${nameOf(service)}`)
      .join("; "),
  );

const conditions: readonly (readonly [id: string, says: string, look: Look])[] = [
  ["targets", "what serves has healthy instances where it is planned", targets],
  ["count", "as many run as are wanted", counts],
  ["revision", "what runs is what was deployed", revisions],
  ["age", "no message waits longer than it may", ages],
  ["dead-letters", "no dead letter is left alone", deadLetters],
  ["throughput", "what comes is worked on as fast", throughput],
  ["headroom", "memory and processor have room", room],
  ["downstream", "what is called can take it", downstream],
  ["correlation", "a request can be followed by its id", correlation],
  ["rollback", "the way back is known", rollbacks],
];

/** Unhealthy where one of them is bad; what is unknown is said, and does not count. */
export function healthOf(facts: HealthFacts): Health {
  const all = conditions.map(([id, says, look]) => ({ id, says, ...look(facts) }));
  return { healthy: all.every(({ verdict }) => verdict !== "bad"), conditions: all };
}

// Home: everything that needs a person, the urgent and the old first, and how the whole is.
import { readStatus } from "tuntas/outbox";
import { defaultScope } from "tuntas/queue";
import type { Check, Decision, Health } from "../../api/index.ts";
import { approvals } from "../decisions/approvals.ts";
import { executions } from "../decisions/executions.ts";
import { alarms } from "../decisions/alarms.ts";
import { backfills } from "../decisions/backfills.ts";
import { batches } from "../decisions/batches.ts";
import { deadLetters } from "../decisions/dead-letters.ts";
import type { Look } from "../decisions/decision.ts";
import { discrepancies, effects } from "../decisions/effects.ts";
import { commands } from "../decisions/commands.ts";
import { operations } from "../decisions/operations.ts";
import { outbox } from "../decisions/outbox.ts";
import { queues, undeclared } from "../decisions/queues.ts";
import { schedules } from "../decisions/schedules.ts";
import { services } from "../decisions/services.ts";
import { streams } from "../decisions/streams.ts";
import type { Needs, ReadsOf } from "../needs.ts";

const looks: readonly Look[] = [
  alarms,
  approvals,
  operations,
  commands,
  effects,
  outbox,
  deadLetters,
  executions,
  schedules,
  streams,
  batches,
  backfills,
  services,
  queues,
  discrepancies,
  undeclared,
];

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

async function readHealth({ platform }: Needs): Promise<Health> {
  const { observer } = platform.queues;
  const [processes, surveyed, { targets }] = await Promise.all([
    observer.processes(),
    observer.surveyAll(defaultScope),
    readStatus(platform.database),
  ]);
  const working = surveyed.filter((queue) => !queue.isDeadLetterQueue);
  const ages = working.flatMap(({ oldestAgeMs }) => oldestAgeMs ?? []);
  return {
    processes: processes.length,
    queues: surveyed.length,
    ready: sum(working.map((queue) => queue.ready)),
    inFlight: sum(working.map((queue) => queue.inFlight)),
    delayed: sum(working.map((queue) => queue.delayed)),
    dead: sum(surveyed.map((queue) => queue.dead + queue.quarantined)),
    oldestAgeMs: ages.length === 0 ? null : Math.max(...ages),
    outboxWaiting: sum(targets.map((target) => target.waiting)),
  };
}

interface Looked {
  readonly check: Check;
  readonly found: readonly Decision[];
}

/** One look; that it fails is said on the page, and keeps nothing else from being shown. */
async function lookAt({ name, find }: Look, needs: Needs): Promise<Looked> {
  try {
    const { value: found } = await needs.shared.get(`look ${name}`, () => find(needs));
    return { check: { name, found: found.length, failure: null }, found };
  } catch (cause) {
    needs.platform.log.warn({ cause, look: name }, "the console could not look");
    const failure = cause instanceof Error ? cause.message : String(cause);
    return { check: { name, found: 0, failure }, found: [] };
  }
}

const urgency = { now: 0, soon: 1 };

const order = (one: Decision, other: Decision): number =>
  urgency[one.urgency] - urgency[other.urgency] || (other.ageMs ?? -1) - (one.ageMs ?? -1);

export const homeReads = (needs: Needs): ReadsOf<"home"> => ({
  async home() {
    const [looked, { value: health }] = await Promise.all([
      Promise.all(looks.map((look) => lookAt(look, needs))),
      needs.shared.get("health", () => readHealth(needs)),
    ]);
    return {
      decisions: looked.flatMap(({ found }) => found).toSorted(order),
      checks: looked.map(({ check }) => check),
      health,
    };
  },
});

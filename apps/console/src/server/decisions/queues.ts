import { defaultScope, type QueueSurvey } from "tuntas/queue";
import type { Decision } from "../../api/index.ts";
import { counted, pageAt, type Look } from "./decision.ts";

/** A client over the wire may still come for what waits; after this long it looks forgotten. */
const patienceMs = 30_000;

const base = ({ name, owner, runbook }: QueueSurvey) => ({
  kind: "queue" as const,
  owner,
  runbook,
  action: { label: "Look at it", href: pageAt(`/queues/${encodeURIComponent(name)}`) },
});

function paused(queue: QueueSurvey, nowMs: number): Decision | undefined {
  if (queue.pausedAtMs === null) return undefined;
  return {
    ...base(queue),
    id: `paused:${queue.name}`,
    urgency: "soon",
    title: `${queue.name} is paused by ${queue.pausedBy}`,
    detail: `${counted(queue.ready, "message")} wait until somebody resumes it`,
    ageMs: Math.max(0, nowMs - queue.pausedAtMs),
  };
}

function unattended(queue: QueueSurvey): Decision | undefined {
  const { isDeadLetterQueue, consumers, pausedAtMs, inFlight, ready, oldestAgeMs } = queue;
  const waits = !isDeadLetterQueue && consumers === 0 && pausedAtMs === null && inFlight === 0;
  if (!waits || (oldestAgeMs ?? 0) < patienceMs) return undefined;
  return {
    ...base(queue),
    id: `unattended:${queue.name}`,
    urgency: "now",
    title: `Nobody works on ${queue.name}`,
    detail: `${counted(ready, "message")} wait, and no live process has a worker of it`,
    ageMs: oldestAgeMs,
  };
}

export const queues: Look = {
  name: "queues that are paused or that nobody works on",
  async find({ platform }) {
    const surveyed = await platform.queues.observer.surveyAll(defaultScope);
    const nowMs = platform.workflows.nowMs();
    return surveyed.flatMap((queue) => paused(queue, nowMs) ?? unattended(queue) ?? []);
  },
};

export const undeclared: Look = {
  name: "queues without an owner",
  async find({ platform }) {
    const surveyed = await platform.queues.observer.surveyAll(defaultScope);
    const names = surveyed.filter((queue) => queue.owner === null).map((queue) => queue.name);
    if (names.length === 0) return [];
    const shown = names.slice(0, 5).join(", ");
    return [
      {
        id: "undeclared",
        kind: "undeclared",
        urgency: "soon",
        title: `${counted(names.length, "queue")} without an owner`,
        detail: `Made over the wire and declared by no code: ${shown}${names.length > 5 ? ", …" : ""}`,
        owner: null,
        runbook: null,
        ageMs: null,
        action: { label: "See them", href: pageAt("/queues", { owner: "none" }) },
      },
    ];
  },
};

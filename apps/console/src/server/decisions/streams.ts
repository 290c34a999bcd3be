import type { ConsumerReport, Parked, StreamReport } from "tuntas/stream";
import type { Decision } from "../../api/index.ts";
import type { Needs } from "../needs.ts";
import { standingOf } from "../rooms/streams.ts";
import { counted, pageAt, type Look } from "./decision.ts";

const rowsMax = 1000;
/** A consumer that is being deployed comes back; after this long it looks forgotten. */
const patienceMs = 30_000;

interface Of {
  readonly stream: StreamReport;
  readonly consumer: ConsumerReport;
}

const decided = (
  { stream: { name, owner, runbook }, consumer }: Of,
  what: string,
  of: Pick<Decision, "urgency" | "title" | "detail" | "ageMs"> & { readonly label: string },
): Decision => {
  const { label, ...told } = of;
  const query = { consumer: consumer.name, view: what === "parked" ? what : undefined };
  return {
    id: `stream:${name}:${consumer.name}:${what}`,
    kind: "stream",
    owner,
    runbook,
    action: { label, href: pageAt(`/streams/${encodeURIComponent(name)}`, query) },
    ...told,
  };
};

function stopped(of: Of, nowMs: number): Decision {
  const { stream, consumer } = of;
  const all = consumer.partitions.filter(({ stoppedAtMs }) => stoppedAtMs !== null);
  const { partition, nextOffset, code, reason } = all[0]!;
  return decided(of, "stopped", {
    urgency: "now",
    title: `${consumer.name} has stopped in ${counted(all.length, "partition")} of ${stream.name}`,
    detail: `At offset ${nextOffset} of partition ${partition}: ${code}: ${reason}`,
    ageMs: Math.max(0, ...all.map(({ stoppedAtMs }) => nowMs - stoppedAtMs!)),
    label: "Mend it, then resume",
  });
}

const unread = (of: Of): Decision =>
  decided(of, "unread", {
    urgency: "now",
    title: `Nobody reads ${of.stream.name} as ${of.consumer.name}`,
    detail: `${counted(of.consumer.lag, "record")} wait, and no live process has this consumer`,
    ageMs: of.consumer.lagMs,
    label: "Look at it",
  });

function parked(of: Of, all: readonly Parked[], nowMs: number): Decision {
  const { stream, consumer } = of;
  const { code, reason } = all[0]!;
  return decided(of, "parked", {
    urgency: "soon",
    title: `${counted(consumer.parked, "record")} of ${stream.name} parked by ${consumer.name}`,
    detail: `The latest: ${code}: ${reason}`,
    ageMs: Math.max(0, ...all.map(({ parkedAtMs }) => nowMs - parkedAtMs)),
    label: "Replay or discard",
  });
}

/** What is only behind is told by its alarm. */
async function decisionsOf({ platform: { streams, workflows } }: Needs, of: Of): Promise<Decision[]> {
  const { stream, consumer } = of;
  const nowMs = workflows.nowMs();
  const found: Decision[] = [];
  const standing = standingOf(consumer);
  if (standing === "stopped") found.push(stopped(of, nowMs));
  if (standing === "nobody reads" && (consumer.lagMs ?? 0) >= patienceMs) found.push(unread(of));
  if (consumer.parked === 0) return found;
  const all = await streams.parked(stream.name, { consumer: consumer.name, limit: rowsMax });
  return all.length === 0 ? found : [...found, parked(of, all, nowMs)];
}

export const streams: Look = {
  name: "streams with parked records, stopped partitions, or that nobody reads",
  async find(needs) {
    const all = await needs.platform.streams.list();
    const consumers = all.flatMap((stream) => stream.consumers.map((consumer) => ({ stream, consumer })));
    return (await Promise.all(consumers.map((of) => decisionsOf(needs, of)))).flat();
  },
};

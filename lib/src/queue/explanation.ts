// Why is this message not running? Pure: from what the database says of it to reasons that a person can act upon.
import { counted } from "../core/text.ts";
import { limitOf, type TenantOptions } from "./tenants.ts";

/** A process as others see it. */
export interface ProcessFact {
  readonly id: string;
  readonly name: string;
  readonly host: string;
  readonly pid: number;
}

/** Who holds a message. A null process with an end belongs to a receipt; one without, to a process that has died. */
export interface Holding {
  readonly messageId: string;
  readonly sinceMs: number;
  readonly untilMs: number | null;
  readonly process: ProcessFact | null;
}

export type MessageState = "delayed" | "ready" | "in_flight" | "dead" | "quarantined" | "rejected";

/** What the database knows of a message and its surroundings at one moment. */
export interface Facts {
  readonly id: string;
  readonly messageId: string;
  readonly state: MessageState;
  readonly queue: string;
  readonly receives: number;
  readonly sentAtMs: number;
  readonly groupId: string | null;
  readonly body: string | null;
  readonly attributes: string | null;
  /** The queue that a dead letter died in. */
  readonly diedIn: string | null;
  /** When a delay ends; when it was quarantined or rejected. */
  readonly atMs: number | null;
  readonly code: string | null;
  readonly message: string | null;
  readonly attempts: number | null;
  readonly owner: string | null;
  readonly runbook: string | null;
  readonly pausedAtMs: number | null;
  readonly pausedBy: string | null;
  readonly holding: Holding | null;
  /** FIFO: the earlier message of its group that is in flight. */
  readonly blocker: Holding | null;
  /** Ready messages that come before it, at most 10,000. */
  readonly ahead: number;
  readonly consumers: readonly (ProcessFact & {
    readonly concurrency: number;
    readonly globalConcurrency: number | null;
    /** The limits that its worker declares a tenant, as JSON. */
    readonly tenants: string | null;
  })[];
  /** Of the tenant whose message it is: what is held of it, and how it is doing. Null without a group. */
  readonly tenant: {
    readonly held: number;
    readonly failures: number;
    readonly standsUntilMs: number | null;
    readonly nextAtMs: number | null;
  } | null;
  /** Messages of the queue that workers hold. */
  readonly heldByWorkers: number;
}

export interface Reason {
  readonly code: string;
  readonly text: string;
}

const instant = (ms: number): string => new Date(ms).toISOString();

const failureText = ({ code, message, attempts }: Facts): string =>
  code === null
    ? ""
    : ` after ${counted(attempts ?? 1, "failed attempt")}, the last with ${code}${message ? `: ${message}` : ""}`;

function holder({ process, untilMs }: Holding): string {
  if (process) return `process ${process.name} (pid ${process.pid} on ${process.host})`;
  return untilMs === null
    ? "a process that has died; it comes back within seconds"
    : `a receipt until ${instant(untilMs)}`;
}

/** What holds a tenant up; the others do not wait for it. */
function tenantReasons({ groupId, tenant, consumers }: Facts): Reason[] {
  const declared = consumers.find((consumer) => consumer.tenants !== null)?.tenants;
  if (!declared || !tenant || groupId === null) return [];
  const { concurrency, perSecond } = limitOf(JSON.parse(declared) as TenantOptions, groupId);
  const reasons: Reason[] = [];
  if (tenant.standsUntilMs !== null)
    reasons.push({
      code: "TENANT_STANDS_STILL",
      text: `tenant ${groupId} stands still until ${instant(tenant.standsUntilMs)}, after ${counted(tenant.failures, "failure")} in a row`,
    });
  if (concurrency !== undefined && tenant.held >= concurrency)
    reasons.push({
      code: "TENANT_CAP_REACHED",
      text: `${counted(tenant.held, "message")} of tenant ${groupId} ${tenant.held === 1 ? "is" : "are"} held, and at most ${concurrency} may be at once in all processes together`,
    });
  if (perSecond !== undefined && tenant.nextAtMs !== null)
    reasons.push({
      code: "TENANT_RATE",
      text: `tenant ${groupId} may have ${perSecond} a second, and its next at ${instant(tenant.nextAtMs)}`,
    });
  return reasons;
}

function readyReasons(facts: Facts): Reason[] {
  const { pausedAtMs, pausedBy, blocker, consumers, heldByWorkers, ahead, queue } = facts;
  const reasons: Reason[] = [];
  const add = (code: string, text: string) => reasons.push({ code, text });
  if (pausedAtMs !== null)
    add(
      "PAUSED",
      `${queue} is paused since ${instant(pausedAtMs)} by ${pausedBy}; resume it with: tuntas queue resume ${queue} --reason "…"`,
    );
  if (blocker)
    add(
      "GROUP_BLOCKED",
      `group ${facts.groupId} is blocked by message ${blocker.messageId}, held by ${holder(blocker)}`,
    );
  reasons.push(...tenantReasons(facts));
  const cap =
    consumers.find((consumer) => consumer.globalConcurrency !== null)?.globalConcurrency ?? undefined;
  if (cap !== undefined && heldByWorkers >= cap)
    add(
      "CAP_REACHED",
      `the workers of ${queue} hold ${counted(heldByWorkers, "message")} and may hold ${cap} in all processes together`,
    );
  if (consumers.length === 0)
    add(
      "NO_CONSUMER",
      `no live process has a worker of ${queue}; only a client that receives over the wire would take it`,
    );
  if (ahead > 0)
    add(
      "BEHIND",
      `${ahead === 10_000 ? "10000 or more messages" : counted(ahead, "message")} of ${queue} ${ahead === 1 ? "comes" : "come"} before it`,
    );
  if (reasons.length === 0)
    add("READY", `nothing is in its way: it is the next that a consumer of ${queue} takes`);
  return reasons;
}

/** The reasons, the decisive one first; never empty. */
export function explain(facts: Facts): Reason[] {
  const { state, atMs, queue, holding } = facts;
  const at = instant(atMs ?? facts.sentAtMs);
  switch (state) {
    case "ready":
      return readyReasons(facts);
    case "delayed":
      return facts.receives > 0
        ? [{ code: "RETRY_WAIT", text: `it waits until ${at} to be tried again${failureText(facts)}` }]
        : [{ code: "DELAYED", text: `it was sent with a delay that ends at ${at}` }];
    case "in_flight":
      return [
        { code: "IN_FLIGHT", text: `it is held by ${holder(holding!)} since ${instant(holding!.sinceMs)}` },
      ];
    case "dead":
      return [
        {
          code: "DEAD",
          text: `it died in ${facts.diedIn} and lies in ${queue}${failureText(facts)}; owner: ${facts.owner ?? "none"}`,
        },
      ];
    case "quarantined":
      return [
        {
          code: "QUARANTINED",
          text: `it is quarantined since ${at}${failureText(facts)}; owner: ${facts.owner ?? "none"}`,
        },
      ];
    case "rejected":
      return [{ code: "REJECTED", text: `it was rejected at ${at} with ${facts.code}: ${facts.message}` }];
  }
}

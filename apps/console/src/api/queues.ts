import type {
  Explanation,
  LiveMessage,
  LiveProcess,
  LiveState,
  QueueConsumer,
  QueueRecord,
  QueueSurvey,
  Sign,
  TenantView,
} from "tuntas/queue";
import type { None, Paged, Reasoned } from "./basics.ts";

export type {
  Explanation,
  LiveMessage,
  LiveProcess,
  LiveState,
  QueueConsumer,
  QueueSurvey,
  Sign,
  TenantView,
};

/** Names a queue; account and region are the default's where they are left out. */
export interface QueueName {
  readonly queue: string;
  readonly account?: string | undefined;
  readonly region?: string | undefined;
}

export interface QueueView {
  readonly survey: QueueSurvey;
  readonly record: QueueRecord;
  readonly consumers: readonly QueueConsumer[];
}

/** What an operator may set from the console; the rest is declared in code. */
export interface QueueLimits {
  readonly visibilitySeconds?: number;
  readonly delaySeconds?: number;
  readonly retentionSeconds?: number;
  readonly receiveWaitSeconds?: number;
  readonly receivesMax?: number;
}

export interface QueueReads {
  queues: {
    query: { search?: string | undefined; after?: string | undefined; account?: string; region?: string };
    answer: Paged<QueueSurvey>;
  };
  queue: { query: QueueName; answer: QueueView };
  "queue.messages": {
    query: QueueName & { state: LiveState; after?: string | undefined };
    answer: Paged<LiveMessage>;
  };
  "queue.signs": { query: QueueName; answer: { readonly signs: readonly Sign[] } };
  /** The fifty with most to wait for; none where the queue has no groups. */
  "queue.tenants": { query: QueueName; answer: readonly TenantView[] };
  message: { query: { id: string }; answer: Explanation };
  processes: { query: None; answer: readonly LiveProcess[] };
}

export interface QueueActs {
  /** The whole body, for whoever may see sensitive fields; each look is on the record. */
  "message.reveal": { body: Reasoned & { readonly id: string }; answer: { readonly body: string | null } };
  "queue.pause": { body: QueueName & Reasoned; answer: { readonly status: "paused" } };
  "queue.resume": { body: QueueName & Reasoned; answer: { readonly status: "resumed" } };
  "queue.purge": {
    body: QueueName & Reasoned;
    /** `too soon`: it was purged within the last 60 seconds. */
    answer: { readonly status: "purged" | "too soon" };
  };
  "queue.limits": { body: QueueName & Reasoned & QueueLimits; answer: QueueRecord };
}

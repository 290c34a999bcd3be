// Looking without touching: why a message is not running, what a queue suffers from, what lies at its front.
import type { QueueRecord } from "../contract.ts";
import { queueErrors } from "../contract.ts";
import { signsOf, type Observation, type Sign } from "../diagnosis.ts";
import { explain, type Facts, type Reason } from "../explanation.ts";
import { findMentions, type AuditRow } from "../store/audit.ts";
import { findMessage, observeQueue, peekMessages, readFacts, type Glimpse } from "../store/inspect.ts";
import { listMessages, type LiveMessage, type LiveState } from "../store/survey.ts";
import { readTenantOptions, surveyTenants, type TenantSurvey } from "../store/tenant.ts";
import { termsOf, type TenantTerms } from "../tenants.ts";
import type { QueueContext } from "./context.ts";

/** Where a message is, why it is not running, and what people did to it. */
export interface Explanation extends Facts {
  /** The decisive one first; never empty. */
  readonly reasons: readonly Reason[];
  readonly history: readonly AuditRow[];
}

/** A tenant of a queue: what waits and runs of it, what it may take, how it is doing. */
export type TenantView = TenantSurvey & TenantTerms;

export interface Inspector {
  /** By message id (UUID) or by number; undefined for what has ended as done, was deleted, or never was. */
  explain(messageId: string): Promise<Explanation | undefined>;
  /** The first messages of a queue, ready ones first, without receiving them. */
  peek(queue: QueueRecord, limit: number): Promise<Glimpse[]>;
  /** The messages of one state in the order in which they come; the next page comes after the last one's cursor. */
  browse(
    queue: QueueRecord,
    page: { readonly state: LiveState; readonly after?: string; readonly limit: number },
  ): Promise<LiveMessage[]>;
  /** The tenants (groups) of a queue that have most to wait for, at most so many: who is noisy? */
  tenants(queue: QueueRecord, count: number): Promise<TenantView[]>;
  /** One look at a queue. Errors: TUNTAS_QUEUE_MISSING. */
  observe(queue: QueueRecord, before?: Observation): Promise<Observation>;
  /** The signs of poison; those of change only show against an observation from before. */
  diagnose(
    queue: QueueRecord,
    before?: Observation,
  ): Promise<{ readonly observation: Observation; readonly signs: readonly Sign[] }>;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const firstCursor = "-1.0";
const number = /^\d{1,18}$/;

export function makeInspector({ database }: QueueContext): Inspector {
  async function observe(queue: QueueRecord, before?: Observation): Promise<Observation> {
    const seen = await observeQueue(database, queue.id, before?.front ?? []);
    if (!seen) throw queueErrors.error("TUNTAS_QUEUE_MISSING", `queue ${queue.name} does not exist`);
    return seen;
  }

  async function numberOf(messageId: string): Promise<string | undefined> {
    if (uuid.test(messageId)) return findMessage(database, messageId);
    return number.test(messageId) ? messageId : undefined;
  }

  return {
    observe,
    async tenants({ id }, count) {
      const [seen, options] = await Promise.all([
        surveyTenants(database, id, count),
        readTenantOptions(database, id),
      ]);
      return seen.map((each) => ({ ...each, ...termsOf(options, each) }));
    },
    peek: (queue, limit) => peekMessages(database, queue.id, limit),
    browse: (queue, { state, after = firstCursor, limit }) =>
      listMessages(database, queue.id, { state, after, limit }),
    async explain(messageId) {
      const id = await numberOf(messageId);
      const facts = id === undefined ? undefined : await readFacts(database, id);
      return (
        facts && { ...facts, reasons: explain(facts), history: await findMentions(database, facts.messageId) }
      );
    },
    async diagnose(queue, before) {
      const observation = await observe(queue, before);
      return { observation, signs: signsOf(observation, before) };
    },
  };
}

export type { Facts, Glimpse, LiveMessage, LiveState, Observation, Reason, Sign };

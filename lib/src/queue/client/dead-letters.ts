// What waits for a person, dead or in quarantine: why, whose it is, and what an operation is done to. It is counted,
// paged, and put back or ended slice by slice in a transaction of the operation's; what may not be replayed is told item by
// item, with the reason. There is no discard: what a person ends has a reason.
import { readNowMs } from "../../pg/clock.ts";
import type { Tx } from "../../pg/contract.ts";
import type { DeadGroup, DeadItem, QueueRecord, Scope, TriageFilter } from "../contract.ts";
import { queueSignals } from "../signals.ts";
import * as store from "../store/triage.ts";
import type { Candidate, Tally } from "../store/triage.ts";
import type { QueueContext } from "./context.ts";
import { wakeQueues } from "./context.ts";
import { inGroups } from "./grouped.ts";
import { findUnsettled, settledOf } from "./unsettled.ts";

/** A message that waits for a person. */
export type DeadLetter = Candidate;

export interface ReplayTerms {
  /** Where to; each to the queue that it died in where undefined. */
  readonly destination?: QueueRecord | undefined;
  /** Somebody has looked whether the effects of `unknown` outcomes took place. */
  readonly effectChecked?: boolean | undefined;
}

export interface SurveyOptions {
  /** Where they are to be replayed; where they are to be rejected, nothing is forbidden. */
  readonly terms?: ReplayTerms | undefined;
  /** At most so many, the oldest first: the survey names them. */
  readonly limit?: number | undefined;
}

export interface DeadLetterSurvey {
  /** With its end in time: what fails later is not part of it. */
  readonly filter: TriageFilter;
  readonly count: number;
  readonly forbidden: readonly { readonly rule: string; readonly count: number }[];
  /** The message ids of a few. */
  readonly sample: readonly string[];
}

/** What became of one: `done`, refused for a reason, or gone before it could be taken. */
export interface DeadLetterResult {
  readonly item: string;
  readonly outcome: "done" | "refused" | "skipped";
  readonly reason?: string;
}

export interface DeadLetters {
  /** The causes, the most frequent first. */
  groups(scope: Scope, filter: TriageFilter): Promise<DeadGroup[]>;
  /** The messages, in the order in which they were sent; the next page comes after the last one's id. */
  items(
    scope: Scope,
    filter: TriageFilter,
    page: { readonly after?: string; readonly limit: number },
  ): Promise<DeadItem[]>;
  survey(scope: Scope, filter: TriageFilter, options?: SurveyOptions): Promise<DeadLetterSurvey>;
  /** In the order of the ids, so that what dies again meanwhile is not taken twice. */
  page(scope: Scope, filter: TriageFilter, after: string, limit: number): Promise<DeadLetter[]>;
  replayIn(tx: Tx, items: readonly DeadLetter[], terms: ReplayTerms): Promise<DeadLetterResult[]>;
  rejectIn(tx: Tx, items: readonly DeadLetter[], code: string, reason: string): Promise<DeadLetterResult[]>;
  /** After the commit. */
  announceReplayed(items: readonly DeadLetter[], terms: ReplayTerms): void;
  announceRejected(items: readonly DeadLetter[]): void;
}

const sampleMax = 10;
const pageMax = 100_000;
const unsettledRule =
  "nobody knows what became of a side effect that it made; settle it first (`tuntas effect list`)";

const liesIn = (item: DeadLetter): number => item.liesInId;

function countBy<T>(list: readonly T[], keyOf: (item: T) => number): Map<number, number> {
  const counts = new Map<number, number>();
  for (const item of list) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return counts;
}

/** The reason that forbids to replay it; undefined where none does. */
function whyNot(
  { forbidden, outcome, queue, fifo }: Pick<Tally, "forbidden" | "outcome" | "queue" | "fifo">,
  { destination, effectChecked }: ReplayTerms,
): string | undefined {
  if (forbidden !== null) return forbidden;
  if (outcome === "unknown" && !effectChecked)
    return "its effect may have taken place, and nobody has looked";
  if (queue === null && !destination) return "the queue that it died in is deleted";
  if (destination && fifo !== null && fifo !== destination.fifo)
    return `${queue} and ${destination.name} are not both FIFO or both standard`;
  return undefined;
}

const skipped = (item: DeadLetter): DeadLetterResult => ({
  item: item.messageId,
  outcome: "skipped",
  reason: "somebody else moved or received it",
});

const moved = (items: readonly DeadLetter[], ids: ReadonlySet<string>): DeadLetterResult[] =>
  items.map((item) => (ids.has(item.id) ? { item: item.messageId, outcome: "done" } : skipped(item)));

const refused = (item: DeadLetter, reason: string): DeadLetterResult => ({
  item: item.messageId,
  outcome: "refused",
  reason,
});

export function makeDeadLetters(context: QueueContext): DeadLetters {
  const { database } = context;

  /** The same selection, with the oldest of what is allowed by name. */
  async function limited(
    scope: Scope,
    { filter, ...found }: DeadLetterSurvey,
    { terms, limit = Infinity }: SurveyOptions,
  ): Promise<DeadLetterSurvey> {
    if (found.count <= limit) return { ...found, filter };
    const page = { after: "0", limit: pageMax, forbiddenToo: terms === undefined };
    const all = await store.findCandidates(database, scope, filter, page);
    const allowed = all.filter((item) => !terms || whyNot(item, terms) === undefined);
    const settled = terms ? await settledOf(database, allowed) : allowed;
    const messageIds = settled.slice(0, limit).map((item) => item.messageId);
    return { ...found, filter: { ...filter, messageIds }, count: messageIds.length };
  }

  async function survey(
    scope: Scope,
    wanted: TriageFilter,
    options: SurveyOptions = {},
  ): Promise<DeadLetterSurvey> {
    const { terms } = options;
    const nowMs = await readNowMs(database);
    const filter = { ...wanted, untilMs: Math.min(wanted.untilMs ?? Infinity, nowMs) };
    const tally = await store.tallySelection(database, scope, filter);
    const counts = new Map<string | undefined, number>();
    const add = (rule: string | undefined, count: number) =>
      counts.set(rule, (counts.get(rule) ?? 0) + count);
    for (const row of tally) add(terms && whyNot(row, terms), row.count);
    const unsettled = terms ? (await findUnsettled(database, scope, filter)).tally : [];
    for (const row of unsettled.filter((each) => whyNot(each, terms!) === undefined)) {
      add(undefined, -row.count);
      add(unsettledRule, row.count);
    }
    const page = { after: "0", limit: sampleMax, forbiddenToo: terms === undefined };
    const sample = await store.findCandidates(database, scope, filter, page);
    const forbidden = [...counts].flatMap(([rule, count]) => (rule === undefined ? [] : [{ rule, count }]));
    const named = sample.map((item) => item.messageId);
    return limited(scope, { filter, count: counts.get(undefined) ?? 0, forbidden, sample: named }, options);
  }

  async function replayIn(
    tx: Tx,
    items: readonly DeadLetter[],
    terms: ReplayTerms,
  ): Promise<DeadLetterResult[]> {
    const settled = new Set(await settledOf(tx, items));
    const reasonOf = (item: DeadLetter) =>
      whyNot(item, terms) ?? (settled.has(item) ? undefined : unsettledRule);
    const allowed = items.filter((item) => reasonOf(item) === undefined);
    const { destination } = terms;
    const targetOf = (item: DeadLetter) => destination?.id ?? item.diedInId;
    const replay = () => store.replaySlice(tx, allowed, destination?.id ?? null);
    const ids = new Set(await inGroups(tx, allowed, [targetOf, liesIn], replay));
    return items.map((item) => {
      const reason = reasonOf(item);
      return reason === undefined ? moved([item], ids)[0]! : refused(item, reason);
    });
  }

  return {
    groups: (scope, filter) => store.findGroups(database, scope, filter),
    items: (scope, filter, { after = "0", limit }) =>
      store.findItems(database, scope, filter, { after, limit }),
    survey,
    page: (scope, filter, after, limit) =>
      store.findCandidates(database, scope, filter, { after, limit, forbiddenToo: true }),
    replayIn,
    async rejectIn(tx, items, code, reason) {
      const reject = () => store.rejectSlice(tx, items, code, reason);
      return moved(items, new Set(await inGroups(tx, items, [liesIn], reject)));
    },
    announceReplayed(items, { destination }) {
      const targetOf = (item: DeadLetter) => destination?.id ?? item.diedInId;
      wakeQueues(context, items.map(targetOf));
      for (const [queueId, count] of countBy(items, targetOf))
        queueSignals.publish("queue.replayed", { queueId, count });
    },
    announceRejected(items) {
      for (const [queueId, count] of countBy(items, (item) => item.diedInId))
        queueSignals.publish("queue.rejected", { queueId, count });
    },
  };
}

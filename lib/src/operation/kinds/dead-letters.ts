// Dead letters and quarantined messages: put back to work (`replay`), moved from a dead-letter queue (`move`), ended for a
// reason (`reject`).
import type { DeadLetter, ReplayTerms } from "../../queue/client/index.ts";
import type { Queues } from "../../queue/client/index.ts";
import type { QueueRecord, Scope, TriageFilter } from "../../queue/contract.ts";
import { defaultScope } from "../../queue/contract.ts";
import type { ItemResult, OperationItem, OperationKind } from "../contract.ts";

interface DeadLetterSelection {
  readonly scope?: Scope;
  readonly filter: TriageFilter;
  /** At most so many, the oldest first. */
  readonly limit?: number;
}

export interface ReplaySelection extends DeadLetterSelection {
  /** The name of the queue to replay into; each to where it died where it is not given. */
  readonly to?: string;
  readonly effectChecked?: boolean;
}

export interface MoveSelection {
  readonly scope?: Scope;
  /** The dead-letter queue. */
  readonly from: string;
  readonly to?: string;
  readonly effectChecked?: boolean;
}

export interface RejectSelection extends DeadLetterSelection {
  /** The code that they end with; REJECTED_BY_OPERATOR where it is not given. */
  readonly code?: string;
}

type Item = OperationItem & { readonly letter: DeadLetter };

async function pageOf(
  { deadLetters }: Queues,
  { scope = defaultScope, filter }: DeadLetterSelection,
  [after, limit]: readonly [string | null, number],
): Promise<{ items: Item[]; end: boolean }> {
  const letters = await deadLetters.page(scope, filter, after ?? "0", limit);
  const items = letters.map((letter) => ({ item: letter.messageId, cursor: letter.id, letter }));
  return { items, end: letters.length < limit };
}

const doneOf = (items: readonly Item[], results: readonly ItemResult[]): DeadLetter[] =>
  items.filter((_, index) => results[index]!.outcome === "done").map(({ letter }) => letter);

function makeReplay(queues: Queues): OperationKind<ReplaySelection, Item> {
  const { deadLetters, catalog } = queues;
  // The name is looked up where it is used: the catalog remembers it, and a queue that is gone is told so.
  const destinationOf = async ({
    scope = defaultScope,
    to,
  }: ReplaySelection): Promise<QueueRecord | undefined> =>
    to === undefined ? undefined : catalog.get(scope, to);
  const termsOf = async (selection: ReplaySelection): Promise<ReplayTerms> => ({
    destination: await destinationOf(selection),
    effectChecked: selection.effectChecked,
  });
  return {
    name: "replay",
    async survey(selection) {
      const { scope = defaultScope, filter } = selection;
      const found = await deadLetters.survey(scope, filter, {
        terms: await termsOf(selection),
        limit: selection.limit,
      });
      return { ...found, selection: { ...selection, filter: found.filter } };
    },
    page: (selection, after, limit) => pageOf(queues, selection, [after, limit]),
    applyIn: async (tx, selection, items) =>
      deadLetters.replayIn(
        tx,
        items.map(({ letter }) => letter),
        await termsOf(selection),
      ),
    announce(selection, items, results) {
      const done = doneOf(items, results);
      void termsOf(selection).then(
        (terms) => deadLetters.announceReplayed(done, terms),
        () => undefined,
      );
    },
  };
}

const replayOf = ({ from, ...rest }: MoveSelection): ReplaySelection => ({
  ...rest,
  filter: { queue: from, place: "dead" },
});

/** A move is a replay of all that lies in one dead-letter queue, by the same rules. */
function makeMove(queues: Queues, replay: OperationKind<ReplaySelection, Item>): OperationKind<any, Item> {
  return {
    ...replay,
    name: "move",
    async survey(selection: MoveSelection) {
      const scope = selection.scope ?? defaultScope;
      await queues.catalog.get(scope, selection.from);
      return replay.survey(replayOf(selection));
    },
  };
}

function makeReject(queues: Queues): OperationKind<RejectSelection, Item> {
  const { deadLetters } = queues;
  return {
    name: "reject",
    async survey(selection) {
      const { scope = defaultScope, filter } = selection;
      const found = await deadLetters.survey(scope, filter, { limit: selection.limit });
      return { ...found, selection: { ...selection, filter: found.filter } };
    },
    page: (selection, after, limit) => pageOf(queues, selection, [after, limit]),
    applyIn: (tx, { code = "REJECTED_BY_OPERATOR" }, items, { reason }) =>
      deadLetters.rejectIn(
        tx,
        items.map(({ letter }) => letter),
        code,
        reason,
      ),
    announce: (_, items, results) => deadLetters.announceRejected(doneOf(items, results)),
  };
}

export function deadLetterKinds(queues: Queues): OperationKind[] {
  const replay = makeReplay(queues);
  return [replay, makeMove(queues, replay), makeReject(queues)];
}

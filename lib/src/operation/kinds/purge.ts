// A queue is emptied: one item, which stands for all messages that were in it.
import type { Queues } from "../../queue/client/index.ts";
import type { Scope } from "../../queue/contract.ts";
import { defaultScope } from "../../queue/contract.ts";
import type { OperationKind } from "../contract.ts";

export interface PurgeSelection {
  readonly scope?: Scope;
  readonly queue: string;
}

export function purgeKind({ catalog }: Queues): OperationKind<PurgeSelection> {
  const find = ({ scope = defaultScope, queue }: PurgeSelection) => catalog.get(scope, queue);
  const countOf = async (selection: PurgeSelection): Promise<number> => {
    const { ready, inFlight, delayed } = await catalog.count(await find(selection));
    return ready + inFlight + delayed;
  };
  return {
    name: "purge",
    survey: async (selection) => ({
      selection,
      count: await countOf(selection),
      forbidden: [],
      sample: [selection.queue],
    }),
    page: async ({ queue }, after) => ({
      items: after === null ? [{ item: queue, cursor: "purged" }] : [],
      end: true,
    }),
    async apply(selection, { item }, { actor, reason }) {
      const weight = await countOf(selection);
      if (await catalog.purge(await find(selection), actor, reason)) return { item, outcome: "done", weight };
      return { item, outcome: "refused", reason: "it was purged within the last 60 seconds" };
    },
  };
}

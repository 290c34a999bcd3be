// Strays: messages that this process holds by the database's account, and of which nobody here knows. The answer of their
// claim was lost, or their outcome could not be written. Their owner lives, so nobody takes them over; it compares what
// it is said to hold with its slots, and gives back what is not there. A claim that goes well pays nothing for that.
import type { Log } from "../engine/log.ts";
import { makeTwice } from "../engine/aftermath.ts";
import type { SlotTable } from "../engine/process/slots.ts";
import type { Claim } from "./contract.ts";
import { settleRetry } from "./store/settle.ts";
import { findStrays } from "./store/sweep.ts";
import { makeReady, type Shared } from "./sweep.ts";

export interface StrayParts {
  readonly context: Shared;
  readonly slots: Pick<SlotTable, "held">;
  readonly processId: () => string;
  readonly log: Pick<Log, "warn">;
}

const batch = 500;

const nameOf = ({ queueId, id, fence }: { readonly queueId: number | string } & Omit<Claim, "queueId">) =>
  `${queueId}/${id}/${fence}`;

/** Answers what gives back, as if they had not been received, those that were strays at its last call too. */
export function makeStraySweep({ context, slots, processId, log }: StrayParts): () => Promise<void> {
  const foundTwice = makeTwice<Claim>(nameOf);

  return async () => {
    const found = await findStrays(context.database, processId(), slots.held());
    // Of what was on its way some has arrived meanwhile.
    const known = new Set(slots.held().map(nameOf));
    const strays = foundTwice(found.filter((claim) => !known.has(nameOf(claim))));
    let count = 0;
    for (let next = 0; next < strays.length; next += batch) {
      const items = strays.slice(next, next + batch).map((claim) => ({ ...claim, delayMs: 0 }));
      // By their fences: whatever ends one of them now comes first.
      count += await makeReady(context, (tx) => settleRetry(tx, items));
    }
    if (count > 0) log.warn({ count }, "messages that were held here unknown to anybody are ready again");
  };
}

// Where the messages of a worker come from, and what ends them. The worker itself is the same for all of them: here is
// the source that lies in this database; `queue/remote` makes one of a queue that lives elsewhere.
import { longestSleepMs, makeBell } from "../../engine/wake.ts";
import type { Prepared } from "../../engine/handler/transaction.ts";
import type { Log } from "../../engine/log.ts";
import type { Sql } from "../../pg/contract.ts";
import { again } from "../../pg/faults.ts";
import type { Claim, HeldMessage, QueueRecord } from "../contract.ts";
import type { Catalog } from "../client/catalog.ts";
import type { QueueContext } from "../client/context.ts";
import { readyKey, wakeQueues } from "../client/context.ts";
import { makeClaimer, tellClaimed } from "../client/receive.ts";
import type { WorkerDefinition } from "../declaration.ts";
import { claimCapped, claimFifoMessages, claimMessages, fromTheStart } from "../store/claim/index.ts";
import { acknowledgeAll, acknowledgement, groupRefreshes } from "../store/settle.ts";
import { makeOffer, noOffer, type Offer, type OfferParts } from "../handover/offer.ts";
import { concurrencyDefault } from "./pace.ts";
import { makeSettler, type Settler } from "./settler.ts";
import { makeTenants, type Tenants } from "./tenants.ts";
import { makeWriter, type Writer } from "./writes.ts";

/** A claim as it ends in a transaction. */
export type EndingClaim = Pick<HeldMessage, keyof Claim | "groupId" | "bundled">;

/** The statements that end claims in the transaction that does their work. */
export interface Endings {
  /** Raises division_by_zero where the fence is lost. */
  readonly one: (claim: EndingClaim) => Prepared;
  /** All, or it raises division_by_zero. */
  readonly all: (claims: readonly EndingClaim[]) => Prepared;
  /** What else is to be written where these have ended, which are of FIFO queues. */
  readonly after: (claims: readonly EndingClaim[]) => readonly Prepared[];
}

/** What sources of one kind share in a process: their commits. */
export interface Commits {
  readonly settler: Settler;
  readonly writer: Writer;
  readonly endings: Endings;
}

export interface Source extends Commits {
  /** Holds up to so many messages; `bundled`: all are expected to end in the shared commits. */
  claim(count: number, bundled: boolean): Promise<HeldMessage[]>;
  /** Waits until a claim may find something, after one that found fewer than it asked for, or failed. */
  rest(failed: boolean): Promise<void>;
  /** Says to senders when this worker rests, where a message may be handed over to it. */
  offer(parts: Pick<OfferParts, "take" | "isFull">): Offer;
  /** Ends a rest, and whatever a claim waits for. */
  ring(): void;
  /** For whoever watches how attempts end. */
  readonly watching?: Pick<Tenants, "failing" | "ended"> | undefined;
  /** A handler's own commit has ended the claim. */
  committed(held: HeldMessage): void;
  /** The claim is no longer this worker's business, however it ended. */
  forget(held: HeldMessage): void;
  /** Tells whoever waits for messages of the queue that there may be some. */
  wake(): void;
  close(): void;
}

const claimEndings: Endings = { one: acknowledgement, all: acknowledgeAll, after: groupRefreshes };

/** The shared commits of all queues that lie in this database. */
export const makeCommits = (context: QueueContext): Commits => ({
  settler: makeSettler(context),
  writer: makeWriter(context.database, claimEndings),
  endings: claimEndings,
});

export interface LocalParts {
  readonly context: QueueContext;
  readonly catalog: Pick<Catalog, "find">;
  readonly commits: Commits;
  readonly processId: () => string;
  readonly log: Log;
}

/** After a claim that failed nobody might wake it. */
const afterErrorMs = 1000;
const nothing = (): void => undefined;

/** Claims that are counted or in an order, which share nothing between them: of a FIFO queue, under a cap, or within tenants' limits. */
function makeStrictClaim({ context, processId }: LocalParts, work: StrictWork) {
  const { worker, queue, tenants } = work;
  const { globalConcurrency: inAll, concurrency: inThis = concurrencyDefault } = worker.options;

  function claim(sql: Pick<Sql, "run">, count: number) {
    const request = { queueId: queue.id, count, ownerId: processId(), visibilitySeconds: null };
    if (tenants) return tenants.claim(sql, request);
    if (queue.fifo) return claimFifoMessages(sql, request);
    return claimMessages(sql, { ...request, from: fromTheStart });
  }

  function claimed(count: number) {
    if (inAll === undefined) return again(() => claim(context.database, count));
    const request = { queueId: queue.id, count, ownerId: processId(), cap: { inAll, inThis } };
    return again(() => claimCapped(context.database, request, claim));
  }

  return async (count: number): Promise<HeldMessage[]> => {
    const found = await claimed(count);
    if (!found) return [];
    tellClaimed(context, queue.id, found);
    // What ended instead had stood in front of others, which are worth another look.
    if (found.dead + found.expired > 0) context.waker.wake(readyKey(queue.id));
    return found.messages;
  };
}

interface StrictWork {
  readonly worker: WorkerDefinition;
  readonly queue: QueueRecord;
  readonly tenants: Tenants | undefined;
}

/** The queue as it lies in this database. */
export function makeLocalSource(parts: LocalParts, worker: WorkerDefinition, queue: QueueRecord): Source {
  const { context, catalog, commits, processId, log } = parts;
  const { globalConcurrency, tenants: limits } = worker.options;
  const tenants = limits && makeTenants({ context, log, queue }, limits);
  // A cap is counted, and groups have their order and their turns, which a claim sees to.
  const isStrict = globalConcurrency !== undefined || queue.fifo || tenants !== undefined;
  const claim = makeClaimer(context, queue.id);
  const claimStrictly = makeStrictClaim(parts, { worker, queue, tenants });
  const bell = makeBell(context.waker, readyKey(queue.id));
  const isOpen = !isStrict && !context.database.pooled;

  return {
    ...commits,
    async claim(count, bundled) {
      const current = await catalog.find(queue, queue.name);
      if (!current || current.pausedAtMs !== null) return [];
      await context.due.catchUp();
      if (isStrict) return claimStrictly(count);
      return claim({ count, ownerId: processId(), visibilitySeconds: null, bundled });
    },
    // Fewer than asked for is all that there was: what comes now rings.
    rest: (failed) => bell.wait(failed ? afterErrorMs : (tenants?.restMs() ?? longestSleepMs)),
    offer: ({ take, isFull }) =>
      isOpen ? makeOffer({ mailbox: context.mailbox, queueId: queue.id, take, isFull }) : noOffer,
    ring: () => context.waker.wake(readyKey(queue.id)),
    watching: tenants,
    committed: nothing,
    forget: nothing,
    wake: () => wakeQueues(context, [queue.id]),
    close: () => bell.close(),
  };
}

// A consumer in this process: takes its share of the partitions, gives back what is more than that, and lets go of what has
// become another's. It looks when somebody comes, goes or dies, and when the heartbeat finds that something is not as it
// should be.
import { toMs } from "../../core/duration.ts";
import type { TuntasError } from "../../core/error.ts";
import { streamErrors, type ConsumerDefinition } from "../contract.ts";
import { failurePolicyOf } from "../declaration.ts";
import { shareOf } from "../state.ts";
import * as store from "../store/checkpoints.ts";
import type { ConsumerRow } from "../store/streams.ts";
import { findSuccessor } from "../store/succession.ts";
import { consumerKey, streamKey, tell, type Telling } from "../wake.ts";
import { HeldPartition, type PartitionDeps } from "./partition.ts";

export interface RunnerDeps extends Telling, Pick<PartitionDeps, "database" | "log" | "isolation"> {
  readonly processId: () => string;
}

export interface Runner {
  readonly definition: ConsumerDefinition;
  /** How many partitions this process holds, and in how many of them a handler runs. */
  active(): { readonly held: number; readonly running: number };
  /** At each beat: a process that was taken for dead has another id, one that was taken for blocked is no member: it joins again. */
  beat(memberOf: ReadonlySet<number>): void;
  /** Everything that this process holds was lost. */
  abandon(): void;
  /** No further batch; resolves once those under way have ended. */
  drain(): Promise<void>;
  /** Ends at once, gives everything back, and leaves. */
  leave(): Promise<void>;
}

/** Why a consumer that there is no more is not served. */
export async function refusalOf(
  sql: Pick<RunnerDeps["database"], "run">,
  { name, stream }: ConsumerDefinition,
): Promise<TuntasError> {
  const successor = await findSuccessor(sql, stream.name, name);
  return successor === undefined
    ? streamErrors.error("TUNTAS_STREAM_MISSING", `stream ${stream.name} has no consumer ${name}`)
    : streamErrors.error(
        "TUNTAS_CONSUMER_REPLACED",
        `stream ${stream.name}: ${successor} has taken the place of consumer ${name}, which this process declares and does not serve`,
      );
}

export function makeRunner(deps: RunnerDeps, definition: ConsumerDefinition, of: ConsumerRow): Runner {
  const { database, waker, log, processId, isolation } = deps;
  const partitions = new Map<number, HeldPartition>();
  const own: PartitionDeps = {
    database,
    waker,
    log,
    isolation,
    definition,
    streamId: of.streamId,
    timeoutMs: toMs(definition.options.timeout),
    policy: failurePolicyOf(definition),
  };
  let joinedAs: string | undefined;
  let looking: Promise<void> | undefined;
  let again = false;
  let closed = false;

  function tellOthers(): void {
    tell(deps, consumerKey(of.id));
  }

  async function giveBack(partition: HeldPartition): Promise<void> {
    partition.end();
    await partition.ended;
    if (partitions.get(partition.held.partition) === partition) partitions.delete(partition.held.partition);
    if (partition.lost) return;
    await store.releasePartition(database, partition.held);
    tellOthers();
  }

  function begin(checkpoint: store.Checkpoint): void {
    const before = partitions.get(checkpoint.partition);
    before?.lose();
    const partition = new HeldPartition(own, checkpoint);
    partitions.set(checkpoint.partition, partition);
    void partition.ended.then(() => {
      if (!partition.lost || partitions.get(checkpoint.partition) !== partition) return;
      partitions.delete(checkpoint.partition);
      look();
    });
  }

  /** Somebody has ended the consumer, for good: there is nothing more to look for, nor to say. */
  async function gone(): Promise<void> {
    const cause = await refusalOf(database, definition);
    close();
    const { code, message } = cause;
    log.warn({ code, stream: definition.stream.name, consumer: definition.name }, message);
  }

  /** Lets go of what is held no more; answers the share. */
  async function compare(id: string): Promise<number> {
    const { members, partitions: all, held } = await store.readStanding(database, of.id, id);
    if (all === 0) await gone();
    const known = new Set(held);
    for (const partition of partitions.values())
      if (!known.has(`${partition.held.partition}:${partition.held.fence}`)) partition.lose();
    return shareOf(all, members);
  }

  async function once(): Promise<void> {
    const id = processId();
    const isNew = joinedAs !== id;
    for (const checkpoint of await store.claimPartitions(database, of.id, id)) begin(checkpoint);
    joinedAs = id;
    if (isNew) tellOthers();
    const share = await compare(id);
    const kept = [...partitions.values()].filter(({ lost }) => !lost);
    for (const partition of kept.slice(share)) void giveBack(partition).catch(complain);
  }

  const complain = (cause: unknown) =>
    log.warn({ cause, consumer: definition.name }, "partitions could not be shared out; tried again soon");

  async function lookAll(): Promise<void> {
    do {
      again = false;
      await once().catch(complain);
    } while (again && !closed);
    looking = undefined; // here and not in a later microtask: a look that is asked for in between would be lost
  }

  function look(): void {
    if (closed) return;
    again = true;
    looking ??= lookAll();
  }

  const unsubscribe = waker.subscribe(streamKey(consumerKey(of.id)), look);
  look();

  function close(): void {
    closed = true;
    unsubscribe();
  }

  async function drain(): Promise<void> {
    close();
    await looking;
    for (const partition of partitions.values()) partition.end();
    await Promise.all([...partitions.values()].map(({ ended }) => ended));
  }

  return {
    definition,
    active: () => ({
      held: partitions.size,
      running: [...partitions.values()].filter(({ running }) => running).length,
    }),
    beat(memberOf) {
      if (joinedAs !== processId() || !memberOf.has(of.id)) look();
      for (const partition of partitions.values()) partition.beat();
    },
    abandon() {
      for (const partition of partitions.values()) partition.lose();
    },
    drain,
    async leave() {
      for (const partition of partitions.values()) partition.abandon(new Error("the process stops"));
      await drain();
      await store.leaveConsumer(database, of.id, processId());
      for (const partition of partitions.values()) await giveBack(partition);
    },
  };
}

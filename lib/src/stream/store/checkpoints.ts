// Who reads which partition, and how far. Whoever moves a checkpoint names the fence that it got with the partition: a late
// owner, and one whose consumer was rewound meanwhile, finds it changed and moves nothing.
import { statement } from "../../pg/database.ts";
import { interval, ms } from "../../pg/instant.ts";
import type { Runner } from "../../pg/join.ts";

/** A partition as its owner holds it. */
export interface Held {
  readonly consumerId: number;
  readonly partition: number;
  readonly fence: string;
}

/** A record that was tried beside others when their process died: nobody knows yet of which. */
export interface Contested {
  readonly contested: boolean;
}

export interface Checkpoint extends Held, Contested {
  readonly nextOffset: number;
  readonly reached: number;
  readonly attempts: number;
  readonly code: string | null;
  readonly reason: string | null;
  readonly retryInMs: number | null;
  readonly stopped: boolean;
  /** Whether the owner before died with something to read. */
  readonly suspect: boolean;
}

const columns = `c.consumer_id as "consumerId", c.partition, c.fence::text, c.next_offset::float8 as "nextOffset", c.reached::float8,
  c.attempts, c.code, c.reason, ${ms("c.retry_at - tuntas.now()")} as "retryInMs", c.stopped_at is not null as stopped, c.suspect, c.contested`;

// Of two who look at once the second passes over what the first is taking. Nothing is taken for a process that has no row
// any more: nobody would notice its death; and nobody is a member of a consumer that is gone.
const claim = statement(
  `with me as (
     insert into tuntas.stream_member (consumer_id, process_id)
     select k.id, p.id from tuntas.stream_consumer k, tuntas.process p where k.id = $1 and p.id = $2 on conflict do nothing
   ), free as materialized (
     select c.partition from tuntas.stream_checkpoint c
     where c.consumer_id = $1 and c.owner_id is null and exists (select from tuntas.process p where p.id = $2)
     order by c.partition for update of c skip locked
     limit greatest(0, (
       select ceil(count(*)::numeric / (1 + (select count(*) from tuntas.stream_member m where m.consumer_id = $1 and m.process_id <> $2)))
         - count(*) filter (where a.owner_id = $2) from tuntas.stream_checkpoint a where a.consumer_id = $1))
   )
   update tuntas.stream_checkpoint c set owner_id = $2, fence = c.fence + 1, moved_at = tuntas.now() from free f
   where c.consumer_id = $1 and c.partition = f.partition returning ${columns}`,
);

/** Takes free partitions, up to the process's share. */
export const claimPartitions = (sql: Runner, consumerId: number, processId: string): Promise<Checkpoint[]> =>
  sql.run<Checkpoint & {}>(claim, [consumerId, processId]);

const standing = statement(
  `select (select count(*)::int from tuntas.stream_member m where m.consumer_id = $1) as members,
     count(*)::int as partitions, array(select c.partition || ':' || c.fence from tuntas.stream_checkpoint c
       where c.consumer_id = $1 and c.owner_id = $2 order by c.partition) as held
   from tuntas.stream_checkpoint a where a.consumer_id = $1`,
);

/** How many share the partitions, and what of them, by `partition:fence`, this process holds. A consumer that is gone has none. */
export const readStanding = async (sql: Runner, consumerId: number, processId: string) =>
  (
    await sql.run<{ members: number; partitions: number; held: string[] }>(standing, [consumerId, processId])
  )[0]!;

const own = (first: number) =>
  `c.consumer_id = $${first} and c.partition = $${first + 1} and c.fence = $${first + 2}::bigint`;
const ofHeld = ({ consumerId, partition, fence }: Held) => [consumerId, partition, fence];

const release = statement(
  `update tuntas.stream_checkpoint c set owner_id = null, trying = null where ${own(1)} returning c.partition`,
);

export const releasePartition = (sql: Runner, held: Held) => sql.run(release, ofHeld(held));

const leave = statement(`delete from tuntas.stream_member where consumer_id = $1 and process_id = $2`);

export const leaveConsumer = (sql: Runner, consumerId: number, processId: string) =>
  sql.run(leave, [consumerId, processId]);

const rest = statement(
  `update tuntas.stream_checkpoint c set trying = null where ${own(1)} returning ${columns}`,
);

/** How the partition stands, where it is still held so; nothing of it is tried. */
export const restCheckpoint = async (sql: Runner, held: Held): Promise<Checkpoint | undefined> =>
  (await sql.run<Checkpoint & {}>(rest, ofHeld(held)))[0];

const moved = `update tuntas.stream_checkpoint c set next_offset = $4, reached = greatest(c.reached, $4), moved_at = tuntas.now(),
  attempts = 0, retry_at = null, code = null, reason = null, suspect = false, contested = false, trying = null where ${own(1)} returning 1`;

/** Moves the checkpoint; nothing comes back where the fence is lost. */
export const advance = statement(moved);
/** The same, and raises where the fence is lost, so that the transaction fails with it. */
export const advanceOrRaise = statement(`with moved as (${moved}) select 1 / count(*) from moved`);

export const advanceValues = (held: Held, nextOffset: number): unknown[] => [...ofHeld(held), nextOffset];

const begin = statement(
  `update tuntas.stream_checkpoint c set trying = $4 where ${own(1)} returning c.partition`,
);

/** From now on until the partition moves, whoever dies with it has died of this record. False where the fence is lost. */
export const beginAlone = async (sql: Runner, held: Held, offset: number): Promise<boolean> =>
  (await sql.run(begin, [...ofHeld(held), offset])).length > 0;

export const endAlone = `update tuntas.stream_checkpoint c set trying = null where ${own(1)} returning 1`;
/** Ends what `beginAlone` began where the checkpoint stays; raises where the partition is another's. */
export const endAloneOrRaise = statement(`with held as (${endAlone}) select 1 / count(*) from held`);
export const endAloneValues = ofHeld;

/** Why a record could not be handled. */
export interface Failure {
  readonly attempts: number;
  readonly code: string;
  readonly reason: string;
}

const retry = statement(
  `update tuntas.stream_checkpoint c set attempts = $4, retry_at = tuntas.now() + ${interval("$5")}, code = $6, reason = $7, trying = null
   where ${own(1)} returning c.partition`,
);

export const noteRetry = async (
  sql: Runner,
  held: Held,
  { attempts, delayMs, code, reason }: Failure & { readonly delayMs: number },
): Promise<boolean> => (await sql.run(retry, [...ofHeld(held), attempts, delayMs, code, reason])).length > 0;

const stop = statement(
  `update tuntas.stream_checkpoint c set attempts = $4, retry_at = null, code = $5, reason = $6, stopped_at = tuntas.now(), trying = null
   where ${own(1)} returning c.partition`,
);

export const stopPartition = async (sql: Runner, held: Held, { attempts, code, reason }: Failure) =>
  (await sql.run(stop, [...ofHeld(held), attempts, code, reason])).length > 0;

const waits = statement(`update tuntas.stream_checkpoint c set waiting_at = tuntas.now() where ${own(1)}`);

/** Its owner is alive, and waits until it may begin. */
export const noteWaiting = (sql: Runner, held: Held) => sql.run(waits, ofHeld(held));

// What a person does to a consumer moves the fence: whoever works on it finds that out at its commit. What was parked from there
// on is read again in its order, and is parked no more: a replay of it would be a second effect.
const move = statement(
  `with moved as (
     update tuntas.stream_checkpoint c set next_offset = $3, owner_id = null, fence = c.fence + 1, attempts = 0, retry_at = null,
       code = null, reason = null, stopped_at = null, suspect = false, contested = false, trying = null, moved_at = tuntas.now(),
       began = case when $3 > c.next_offset then $3 else least(c.began, $3) end
     where c.consumer_id = $1 and c.partition = $2
   )
   delete from tuntas.stream_parked k where k.consumer_id = $1 and k.partition = $2 and k."offset" >= $3`,
);

export const moveCheckpoint = (sql: Runner, consumerId: number, to: { partition: number; offset: number }) =>
  sql.run(move, [consumerId, to.partition, to.offset]);

const resume = statement(
  `update tuntas.stream_checkpoint c set owner_id = null, fence = c.fence + 1, attempts = 0, retry_at = null, stopped_at = null, trying = null
   where c.consumer_id = $1 and c.stopped_at is not null returning c.partition`,
);

/** Has stopped partitions tried again; answers which. */
export const resumePartitions = async (sql: Runner, consumerId: number): Promise<number[]> =>
  (await sql.run<{ partition: number }>(resume, [consumerId])).map(({ partition }) => partition);

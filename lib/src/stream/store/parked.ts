// Records that a consumer has gone past without handling them.
import type { Tx } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";
import { ms } from "../../pg/instant.ts";
import type { Runner } from "../../pg/join.ts";
import type { Parked, StoredRecord } from "../contract.ts";
import {
  advance,
  advanceValues,
  endAlone,
  endAloneValues,
  type Contested,
  type Failure,
  type Held,
} from "./checkpoints.ts";

// One statement: a process that is frozen between two would keep the partition locked, from whoever takes it over too.
const park = statement(
  `with moved as (${advance.text})
   insert into tuntas.stream_parked as k (consumer_id, partition, "offset", key, body, attempts, code, reason, parked_at)
   select $1, $2, $4::bigint - 1, $5, $6, $7, $8, $9, tuntas.now() from moved
   on conflict (consumer_id, partition, "offset") do update
     set attempts = excluded.attempts, code = excluded.code, reason = excluded.reason, parked_at = excluded.parked_at, replay_at = null,
       contested = false
   returning k.id`,
);

/** Parks the record and goes past it, in one commit. False where the fence is lost. */
export async function parkRecord(
  sql: Runner,
  held: Held,
  { offset, key, body }: StoredRecord,
  { attempts, code, reason }: Failure,
): Promise<boolean> {
  const values = [...advanceValues(held, offset + 1), key, body, attempts, code, reason];
  return (await sql.run(park, values)).length > 0;
}

/** A parked record that is to be handled again. */
export interface Replay extends StoredRecord, Contested {
  readonly id: string;
  readonly attempts: number;
}

const wanted = statement(
  `select k.id::text, k."offset"::float8 as "offset", k.key, k.body, k.attempts, k.contested, ${ms("k.parked_at")} as "appendedAtMs"
   from tuntas.stream_parked k where k.consumer_id = $1 and k.partition = $2 and k.replay_at is not null order by k.id limit 1`,
);

/** The first that is wanted. */
export const findReplay = async (sql: Runner, { consumerId, partition }: Held): Promise<Replay | undefined> =>
  (await sql.run<Replay & {}>(wanted, [consumerId, partition]))[0];

/** Ends a replay that succeeded; raises where somebody has ended it before. */
export const endReplayOrRaise = statement(
  `with gone as (delete from tuntas.stream_parked where id = $1 and replay_at is not null returning 1) select 1 / count(*) from gone`,
);

const fail = statement(
  `with ended as (${endAlone})
   update tuntas.stream_parked set attempts = $5, code = $6, reason = $7, replay_at = null where id = $4 and exists (select from ended)`,
);

/** It failed once more and stays where it was; nothing changes where the partition is another's. */
export const failReplay = (
  sql: Runner,
  held: Held,
  { id, attempts, code, reason }: Failure & { readonly id: string },
) => sql.run(fail, [...endAloneValues(held), id, attempts, code, reason]);

const list = statement(
  `select k.id::text, s.name as stream, c.name as consumer, k.partition, k."offset"::float8 as "offset", k.key, k.body, k.attempts,
     k.code, k.reason, ${ms("k.parked_at")} as "parkedAtMs", k.replay_at is not null as replaying
   from tuntas.stream_parked k join tuntas.stream_consumer c on c.id = k.consumer_id join tuntas.stream s on s.id = c.stream_id
   where s.name = $1 and ($2::text is null or c.name = $2) and ($3::bigint is null or k.id < $3) order by k.id desc limit $4`,
);

export interface ParkedFilter {
  readonly consumer?: string | undefined;
  /** Only those that were parked before the one of this id. */
  readonly before?: string | undefined;
  readonly limit?: number | undefined;
}

/** The latest first. */
export const listParked = (
  sql: Runner,
  stream: string,
  { consumer, before, limit = 100 }: ParkedFilter,
): Promise<Parked[]> => sql.run<Parked & {}>(list, [stream, consumer ?? null, before ?? null, limit]);

const askReplay = statement(
  `update tuntas.stream_parked k set replay_at = tuntas.now() where k.consumer_id = $1 and ($2::bigint[] is null or k.id = any($2))
   returning k.id::text`,
);
const discard = statement(
  `delete from tuntas.stream_parked k where k.consumer_id = $1 and ($2::bigint[] is null or k.id = any($2)) returning k.id::text`,
);

const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

/** Wants them handled again, all where no ids are given; answers which. */
export const replayParked = async (tx: Tx, consumerId: number, ids: readonly string[] | null) =>
  idsOf(await tx.run<{ id: string }>(askReplay, [consumerId, ids]));

export const discardParked = async (tx: Tx, consumerId: number, ids: readonly string[] | null) =>
  idsOf(await tx.run<{ id: string }>(discard, [consumerId, ids]));

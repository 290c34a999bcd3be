// One consumer in another's place. Both stand still meanwhile, and between them they have read everything.
import type { Tx } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";
import { removeConsumer } from "./streams.ts";

const compare = statement(
  `select f.partition, f.next_offset::float8 as "oldAt", t.next_offset::float8 as "newAt", t.began::float8 as began
   from tuntas.stream_checkpoint t join tuntas.stream_checkpoint f on f.partition = t.partition
   where t.consumer_id = $1 and f.consumer_id = $2 and (t.next_offset < f.next_offset or f.next_offset < t.began) order by f.partition`,
);

/** A partition in which the two are not abreast. */
export interface Apart {
  readonly partition: number;
  /** The offset that the old one reads next. */
  readonly oldAt: number;
  /** The one that the new one reads next, and the one from which on it has read. */
  readonly newAt: number;
  readonly began: number;
}

/** Of two that are held: where the new one is behind, or has begun beyond what the old one has read. */
export const findApart = (tx: Tx, oldId: number, newId: number): Promise<Apart[]> =>
  tx.run<Apart & {}>(compare, [newId, oldId]);

// What the new one has read itself it has handled, or parked itself.
const handOver = statement(
  `with moved as (
     update tuntas.stream_parked k set consumer_id = $2 from tuntas.stream_checkpoint t
     where k.consumer_id = $1 and t.consumer_id = $2 and t.partition = k.partition and k."offset" < t.began
       and not exists (select from tuntas.stream_parked o where o.consumer_id = $2 and o.partition = k.partition and o."offset" = k."offset")
     returning 1)
   select count(*)::int as count from moved`,
);

/** Ends the old one; what it has parked from before the new one began is the new one's. Answers how many records those are. */
export async function endOld(tx: Tx, oldId: number, newId: number): Promise<number> {
  const [{ count }] = (await tx.run<{ count: number }>(handOver, [oldId, newId])) as [{ count: number }];
  await removeConsumer(tx, oldId);
  return count;
}

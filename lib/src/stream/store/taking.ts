// What is held of consumers is taken from whoever holds it, by a person, not by a death.
import type { Tx } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";

// In one order, as whoever frees what the dead held takes them. What else their owners try by itself has beside it from now on what
// nobody sees there any more, and what may still run: their death proves nothing against it.
const take = statement(
  `with held as materialized (
     select c.consumer_id, c.partition from tuntas.stream_checkpoint c
     where c.consumer_id = any($1::int[]) or (c.trying is not null and c.owner_id in (
       select o.owner_id from tuntas.stream_checkpoint o where o.consumer_id = any($1::int[])))
     order by c.consumer_id, c.partition for update of c
   )
   update tuntas.stream_checkpoint c set trying = null from held h
   where c.consumer_id = h.consumer_id and c.partition = h.partition and c.trying is not null`,
);

/** Holds the checkpoints until the end of the transaction. */
export const takeCheckpoints = (tx: Tx, ...consumerIds: number[]) => tx.run(take, [consumerIds]);

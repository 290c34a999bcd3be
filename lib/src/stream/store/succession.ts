// Whose place has been taken, and by whom: such a name is nobody's until it is forgotten.
import type { Tx } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";
import type { Runner } from "../../pg/join.ts";

const note = statement(
  `insert into tuntas.stream_succession (stream_id, name, successor, swapped_at) values ($1, $2, $3, tuntas.now())
   on conflict (stream_id, name) do update set successor = excluded.successor, swapped_at = excluded.swapped_at`,
);

export const noteSuccession = (
  tx: Tx,
  streamId: number,
  { from, to }: { readonly from: string; readonly to: string },
) => tx.run(note, [streamId, from, to]);

const find = statement(
  `select n.successor from tuntas.stream_succession n join tuntas.stream s on s.id = n.stream_id where s.name = $1 and n.name = $2`,
);

/** Who has taken its place. */
export const findSuccessor = async (
  sql: Runner,
  stream: string,
  consumer: string,
): Promise<string | undefined> =>
  (await sql.run<{ successor: string }>(find, [stream, consumer]))[0]?.successor;

const undeclare = statement(
  `delete from tuntas.stream_consumer k where k.id = $1 and exists (
     select from tuntas.stream_succession n where n.stream_id = k.stream_id and n.name = k.name)
     and not exists (select from tuntas.stream_checkpoint c where c.consumer_id = k.id) returning k.id`,
);

/** Takes back what was declared while another took its place. False where nobody did. */
export const undeclareReplaced = async (tx: Tx, consumerId: number): Promise<boolean> =>
  (await tx.run(undeclare, [consumerId])).length > 0;

const forget = statement(
  `delete from tuntas.stream_succession n using tuntas.stream s where s.id = n.stream_id and s.name = $1 and n.name = $2 returning n.successor`,
);

/** The name may be declared again. False where nobody has taken its place. */
export const forgetSuccession = async (tx: Tx, stream: string, consumer: string): Promise<boolean> =>
  (await tx.run(forget, [stream, consumer])).length > 0;

// What the heartbeat asks for streams: where there is something to read in what this process holds, and which consumers'
// partitions are not shared out as they should be. A notification only says so earlier.
import type { Agendum } from "../engine/agenda.ts";
import type { Waker } from "../engine/wake.ts";
import { streamKey } from "./wake.ts";

export interface StreamAgendaOptions {
  readonly waker: Waker;
  readonly processId: () => string;
  /** Called at each beat. */
  readonly onBeat: () => void;
}

const unread = `select array(
    select c.stream_id || ':' || c.partition from tuntas.stream_checkpoint c
      join tuntas.stream_partition p on p.stream_id = c.stream_id and p.partition = c.partition
    where c.owner_id = $given and (
      (c.stopped_at is null and (p.next_offset > c.next_offset
        or exists (select from tuntas.stream_arrival a where a.stream_id = c.stream_id and a.partition = c.partition)))
      or exists (select from tuntas.stream_parked k where k.consumer_id = c.consumer_id and k.partition = c.partition and k.replay_at is not null)))`;

const unshared = `select array(
    select 'c' || m.consumer_id from tuntas.stream_member m where m.process_id = $given and (
      select count(*) filter (where c.owner_id is null) > 0 or count(*) filter (where c.owner_id = $given) > ceil(count(*)::numeric / (
        select count(*) from tuntas.stream_member o where o.consumer_id = m.consumer_id))
      from tuntas.stream_checkpoint c where c.consumer_id = m.consumer_id))`;

export function streamAgenda({ waker, processId, onBeat }: StreamAgendaOptions): Agendum[] {
  const given = { type: "bigint", read: processId };
  const hear = (answer: unknown) => {
    for (const word of answer as string[]) waker.wake(streamKey(word));
  };
  return [
    { ask: unread, given, hear },
    {
      ask: unshared,
      given,
      hear(answer) {
        hear(answer);
        onBeat();
      },
    },
  ];
}

// What the heartbeat asks for streams: where there is something to read in what this process holds, and which consumers'
// partitions are not shared out as they should be. A notification only says so earlier.
import type { Agendum } from "../engine/agenda.ts";
import type { Waker } from "../engine/wake.ts";
import { consumerKey, streamKey } from "./wake.ts";

export interface StreamAgendaOptions {
  readonly waker: Waker;
  readonly processId: () => string;
  /** Called at each beat, with the consumers of which this process is a member. */
  readonly onBeat: (memberOf: ReadonlySet<number>) => void;
}

const unread = `select array(
    select c.stream_id || ':' || c.partition from tuntas.stream_checkpoint c
      join tuntas.stream_partition p on p.stream_id = c.stream_id and p.partition = c.partition
    where c.owner_id = $given and (
      (c.stopped_at is null and (p.next_offset > c.next_offset
        or exists (select from tuntas.stream_arrival a where a.stream_id = c.stream_id and a.partition = c.partition)))
      or exists (select from tuntas.stream_parked k where k.consumer_id = c.consumer_id and k.partition = c.partition and k.replay_at is not null)))`;

const shares = `select coalesce((
    select json_object_agg(m.consumer_id, (
      select count(*) filter (where c.owner_id is null) > 0 or count(*) filter (where c.owner_id = $given) > ceil(count(*)::numeric / (
        select count(*) from tuntas.stream_member o where o.consumer_id = m.consumer_id))
      from tuntas.stream_checkpoint c where c.consumer_id = m.consumer_id))
    from tuntas.stream_member m where m.process_id = $given), '{}')`;

export function streamAgenda({ waker, processId, onBeat }: StreamAgendaOptions): Agendum[] {
  const given = { type: "bigint", read: processId };
  const wake = (words: readonly string[]) => words.forEach((word) => waker.wake(streamKey(word)));
  return [
    { ask: unread, given, hear: (answer) => wake(answer as string[]) },
    {
      ask: shares,
      given,
      hear(answer) {
        const consumers = Object.entries(answer as Record<string, boolean>).map(
          ([id, isUnfair]) => [Number(id), isUnfair] as const,
        );
        wake(consumers.flatMap(([id, isUnfair]) => (isUnfair ? consumerKey(id) : [])));
        onBeat(new Set(consumers.map(([id]) => id)));
      },
    },
  ];
}

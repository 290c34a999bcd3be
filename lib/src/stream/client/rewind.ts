// Where a consumer is to read on, as a person says it: an offset, an instant, the start or the end.
import type { Tx } from "../../pg/contract.ts";
import { streamErrors, type RewindTo } from "../contract.ts";
import { peekRecords } from "../store/records.ts";
import type { StreamStanding } from "../store/standing.ts";

interface Place {
  readonly partition: number;
  readonly offset: number;
}

/** The first record from the instant on, by halves: instants follow offsets, but for the length of a commit. */
async function offsetAt(
  tx: Tx,
  streamId: number,
  {
    partition,
    first,
    next,
    instantMs,
  }: { partition: number; first: number; next: number; instantMs: number },
): Promise<number> {
  let [low, high] = [first, next];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [record] = await peekRecords(tx, { streamId, partition, offset: middle, limit: 1 });
    if (record && record.appendedAtMs < instantMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

function checked({ first, next, name }: StreamStanding, { partition, offset }: Place): Place {
  const [from, to] = [first[partition], next[partition]];
  if (from !== undefined && to !== undefined && Number.isInteger(offset) && offset >= from && offset <= to)
    return { partition, offset };
  const expected = from === undefined ? "a partition that it has" : `an offset from ${from} to ${to}`;
  throw streamErrors.error(
    "TUNTAS_STREAM_OFFSET",
    `stream ${name}: expected ${expected}, got offset ${offset} of partition ${partition}`,
  );
}

/** The offsets by partition. Errors: TUNTAS_STREAM_OFFSET. */
export async function placesOf(
  tx: Tx,
  streamId: number,
  standing: StreamStanding,
  to: RewindTo,
): Promise<Place[]> {
  if ("offset" in to) return [checked(standing, to)];
  const { first, next } = standing;
  if ("to" in to)
    return (to.to === "start" ? first : next).map((offset, partition) => ({ partition, offset }));
  const places: Place[] = [];
  for (const [partition, from] of first.entries()) {
    const range = { partition, first: from, next: next[partition]!, instantMs: to.instantMs };
    places.push({ partition, offset: await offsetAt(tx, streamId, range) });
  }
  return places;
}

// What is amiss with what happened: read once, in the order of the commits, with each consumer's place in each partition in mind.
import type { StormEvent } from "./ledger.ts";

/** A consumer as its events leave it. */
interface Reader {
  /** By partition, the offset that comes next. */
  readonly next: Map<number, number>;
  /** By partition, from which offset on all is read without a gap. */
  readonly began: Map<number, number>;
  /** By partition, how far it has been since all its partitions were moved. */
  readonly reached: Map<number, number>;
  readonly parked: Set<string>;
  /** What another has parked, and was to be handed over to it. */
  readonly owed: Set<string>;
}

interface Numbered {
  readonly partition: number;
  readonly offset: number;
  readonly n: number;
}

const idOf = ({ partition, offset }: Pick<StormEvent, "partition" | "offset">) => `${partition}/${offset}`;

/** By key, all records that any event names, in the order of their numbers. */
function recordsOf(events: readonly StormEvent[]): Map<string, Numbered[]> {
  const byKey = new Map<string, Map<number, Numbered>>();
  for (const { key, n, partition, offset } of events) {
    if (key === "" || n === 0) continue;
    const known = byKey.get(key) ?? new Map<number, Numbered>();
    byKey.set(key, known.set(n, { partition, offset, n }));
  }
  return new Map([...byKey].map(([key, all]) => [key, [...all.values()].toSorted((a, b) => a.n - b.n)]));
}

const fresh = (): Reader => ({
  next: new Map(),
  began: new Map(),
  reached: new Map(),
  parked: new Set(),
  owed: new Set(),
});

export interface Judged {
  readonly amiss: string[];
  /** What was handled, by whoever is left: by partition and offset. */
  readonly readers: ReadonlyMap<string, Reader>;
}

export function judge(events: readonly StormEvent[], isBad: (n: number) => boolean): Judged {
  const amiss: string[] = [];
  const readers = new Map<string, Reader>();
  const records = recordsOf(events);
  const moves = new Map<string, number>();
  for (const { kind, xact } of events) if (kind === "moved") moves.set(xact, (moves.get(xact) ?? 0) + 1);

  /** All of the key that were appended before are past. */
  function checkOrder(of: Reader, event: StormEvent): void {
    for (const { n, partition, offset } of records.get(event.key) ?? []) {
      if (n >= event.n) return;
      if (offset < (of.reached.get(partition) ?? 0)) continue;
      amiss.push(`${event.consumer}: ${event.key} ${event.n} came before ${n} of ${partition}/${offset}`);
      return;
    }
  }

  function passed(of: Reader, event: StormEvent): void {
    const { partition, offset } = event;
    checkOrder(of, event);
    of.next.set(partition, offset + 1);
    of.reached.set(partition, Math.max(of.reached.get(partition) ?? 0, offset + 1));
  }

  function effect(of: Reader, event: StormEvent): void {
    if (event.offset === of.next.get(event.partition)) return passed(of, event);
    // A replay: its row goes in the same commit.
    if (of.parked.delete(idOf(event))) return;
    amiss.push(
      `${event.consumer}: ${idOf(event)} was handled where ${of.next.get(event.partition)} comes next`,
    );
  }

  function moved(of: Reader, { consumer, partition, offset, before, xact }: StormEvent): void {
    const next = of.next.get(partition);
    if (before !== next)
      amiss.push(`${consumer}: the checkpoint of ${partition} was at ${before}, its effects at ${next}`);
    of.next.set(partition, offset);
    if (offset > before) of.began.set(partition, offset);
    else of.began.set(partition, Math.min(of.began.get(partition)!, offset));
    // Where one partition alone is put back, who comes after it at a seam is past that.
    of.reached.set(partition, moves.get(xact)! > 1 ? offset : Math.max(of.reached.get(partition)!, offset));
  }

  function parked(of: Reader, event: StormEvent): void {
    if (!isBad(event.n))
      amiss.push(`${event.consumer}: ${idOf(event)} is parked, and no handler failed on it`);
    of.parked.add(idOf(event));
    if (event.offset === of.next.get(event.partition)) passed(of, event);
    else
      amiss.push(
        `${event.consumer}: ${idOf(event)} was parked where ${of.next.get(event.partition)} comes next`,
      );
  }

  function swapped(to: Reader, { consumer, key }: StormEvent): void {
    const from = readers.get(key)!;
    for (const [partition, next] of from.next) {
      const [began, at] = [to.began.get(partition)!, to.next.get(partition)!];
      if (at < next) amiss.push(`${consumer} took the place of ${key}, ${next - at} behind in ${partition}`);
      if (next < began)
        amiss.push(
          `${consumer} took the place of ${key}: nobody reads ${next} to ${began - 1} of ${partition}`,
        );
    }
    for (const id of from.parked) {
      const [partition, offset] = id.split("/").map(Number) as [number, number];
      if (offset < to.began.get(partition)! && !to.parked.has(id)) to.owed.add(id);
    }
    readers.delete(key);
  }

  const deal: Record<StormEvent["kind"], (of: Reader, event: StormEvent) => unknown> = {
    began: (of, { partition, offset }) => {
      of.next.set(partition, offset);
      of.began.set(partition, offset);
      of.reached.set(partition, offset);
    },
    effect,
    moved,
    parked,
    handed(of, event) {
      of.parked.add(idOf(event));
      of.owed.delete(idOf(event));
    },
    unparked: (of, event) => of.parked.delete(idOf(event)),
    swapped,
  };
  for (const event of events) {
    if (event.consumer === "") continue;
    const of = readers.get(event.consumer) ?? fresh();
    readers.set(event.consumer, of);
    deal[event.kind](of, event);
  }
  for (const [consumer, { owed }] of readers)
    if (owed.size > 0)
      amiss.push(`${consumer} was not handed ${[...owed].join(", ")}, which the one before it had parked`);
  return { amiss, readers };
}

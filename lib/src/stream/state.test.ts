import fc from "fast-check";
import { expect, test } from "vitest";
import {
  decideFailure,
  dropped,
  fewer,
  hotPartitions,
  isRollDue,
  partitionOf,
  shareOf,
  type Sealed,
} from "./state.ts";

test("Y-09: a key is always in the same partition, also in the versions to come", () => {
  const keys = ["", "a", "b", "order-1", "order-2", "ord_5e0f", "日本", "\u{1f600}"];
  expect(keys.map((key) => partitionOf(key, 8))).toMatchInlineSnapshot(`
    [
      5,
      0,
      4,
      4,
      3,
      6,
      0,
      3,
    ]
  `);
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 1, max: 256 }), (key, count) => {
      const partition = partitionOf(key, count);
      expect(Number.isInteger(partition) && partition >= 0 && partition < count).toBe(true);
      expect(partitionOf(key, count)).toBe(partition);
    }),
  );
});

test("keys that differ at their ends only are spread evenly", () => {
  const counts = Array<number>(8).fill(0);
  for (let n = 0; n < 8000; n++) counts[partitionOf(`order-${n}`, 8)]!++;
  expect(Math.min(...counts)).toBeGreaterThan(900);
  expect(Math.max(...counts)).toBeLessThan(1100);
});

const policy = (onBadRecord: "park" | "stop") => ({
  attemptsMax: 3,
  backoff: { baseMs: 100, maxMs: 1000 },
  onBadRecord,
});

test("Y-07: a failure is tried again so often, then parked or stopped at; what can never succeed at once", () => {
  for (const bad of ["park", "stop"] as const) {
    const decide = (kind: string, attempts: number, afterMs?: number) =>
      decideFailure({ kind: kind as never, afterMs }, attempts, policy(bad), 1);
    expect(decide("retry", 1)).toEqual({ kind: "retry", delayMs: 100 });
    expect(decide("conflict", 2)).toEqual({ kind: "retry", delayMs: 200 });
    expect(decide("retry", 2, 7)).toEqual({ kind: "retry", delayMs: 7 });
    expect(decide("retry", 3)).toEqual({ kind: bad });
    for (const kind of ["poison", "rejected", "unknown"]) expect(decide(kind, 1)).toEqual({ kind: bad });
  }
});

/** A consumer over a log in which some records are bad, as the worker goes through it: what it commits, and in which order. */
function walk(count: number, bad: ReadonlySet<number>, batch: number, knowsWhich: boolean) {
  let [next, size, tries] = [0, batch, 0];
  const committed: number[] = [];
  const parked: number[] = [];
  while (next < count) {
    if (++tries > 20 * (count + 1)) throw new Error("it does not end");
    const records = Array.from({ length: Math.min(size, count - next) }, (_, n) => next + n);
    const found = records.findIndex((n) => bad.has(n));
    if (found < 0) {
      committed.push(...records);
      next += records.length;
      size = Math.min(batch, Math.max(size, records.length) * 2);
      continue;
    }
    const at = knowsWhich || records.length === 1 ? found : undefined;
    size = fewer(records.length, at);
    if (records.length === 1 || at === 0) parked.push(next++);
  }
  return { committed, parked };
}

test("Y-04 Y-07: whatever is bad, and whether it is known which, each record is committed or parked once, in order", () => {
  const logs = fc.record({
    count: fc.integer({ min: 0, max: 60 }),
    bad: fc.uniqueArray(fc.integer({ min: 0, max: 59 }), { maxLength: 8 }),
    batch: fc.integer({ min: 1, max: 40 }),
    knowsWhich: fc.boolean(),
  });
  fc.assert(
    fc.property(logs, ({ count, bad, batch, knowsWhich }) => {
      const { committed, parked } = walk(count, new Set(bad), batch, knowsWhich);
      const isBad = (n: number) => bad.includes(n);
      const all = Array.from({ length: count }, (_, n) => n);
      expect(committed).toEqual(all.filter((n) => !isBad(n)));
      expect(parked).toEqual(all.filter(isBad));
    }),
  );
});

test("Y-03: shares are as even as can be, take all partitions together, and leave those without who come too many", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 256 }), fc.integer({ min: 0, max: 300 }), (partitions, members) => {
      const share = shareOf(partitions, members);
      expect(share * Math.max(1, members)).toBeGreaterThanOrEqual(partitions);
      expect((share - 1) * Math.max(1, members)).toBeLessThan(partitions);
    }),
  );
});

test("segments begin anew in an eighth of the retention, where they hold anything", () => {
  expect(isRollDue(1000, 1, 8000)).toBe(true);
  expect(isRollDue(999, 1, 8000)).toBe(false);
  expect(isRollDue(99_999, 0, 8000)).toBe(false);
});

test("what is over is dropped from the oldest on, never past what a consumer has not read", () => {
  const sealed: Sealed[] = [
    { segment: 1, endedMsAgo: 400, unreadBy: [] },
    { segment: 2, endedMsAgo: 300, unreadBy: ["slow"] },
    { segment: 3, endedMsAgo: 200, unreadBy: [] },
    { segment: 4, endedMsAgo: 99, unreadBy: [] },
  ];
  const numbers = (all: readonly Sealed[]) => all.map(({ segment }) => segment);
  const { drop, held } = dropped(sealed, 100);
  expect([numbers(drop), numbers(held)]).toEqual([[1], [2, 3]]);
  expect(numbers(dropped([sealed[0]!, sealed[2]!, sealed[3]!], 100).drop)).toEqual([1, 3]);
});

test("Y-12: a partition is hot that gets more than twice its share, however full its sample is", () => {
  const heat = (partition: number, records: number, withinMs = 60_000, stream = "s") => ({
    stream,
    partitions: 4,
    partition,
    records,
    withinMs,
    key: `k${partition}`,
  });
  expect(hotPartitions([heat(0, 100), heat(1, 100), heat(2, 100), heat(3, 150)])).toEqual([]);
  const [hot, ...rest] = hotPartitions([heat(0, 100), heat(1, 100), heat(2, 100), heat(3, 200, 2000)]);
  expect(rest).toEqual([]);
  expect(hot).toMatchObject({ stream: "s", partition: 3, key: "k3" });
  expect(hot!.times).toBeCloseTo(3.81, 1);
  expect(hotPartitions([heat(3, 10)])).toEqual([]);
  expect(
    hotPartitions([
      { ...heat(0, 90), partitions: 2 },
      { ...heat(1, 10), partitions: 2 },
    ]),
  ).toHaveLength(1);
});

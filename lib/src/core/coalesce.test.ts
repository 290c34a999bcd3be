import { expect, test } from "vitest";
import { coalescer, type Linger } from "./coalesce.ts";

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A coalescer over turns, with what each of its flushes had. */
function overTurns(linger: Omit<Linger, "turn">) {
  const flushes: number[][] = [];
  const { add } = coalescer<number, number>({
    itemsMax: 100,
    flushesMax: 1,
    linger: { ...linger, turn: setImmediate },
    flush: async (items) => {
      flushes.push([...items]);
      return items.map((item) => (item < 0 ? new Error(`no to ${item}`) : item * 2));
    },
  });
  return { add, flushes };
}

test("what comes over several turns shares a flush, as long as turns bring more", async () => {
  const { add, flushes } = overTurns({ turnsMax: 10, emptyMax: 1, enough: 100 });
  const results: Promise<number>[] = [];
  for (const item of [1, 2, 3]) {
    results.push(add(item));
    await turn();
  }
  expect(await Promise.all(results)).toEqual([2, 4, 6]);
  expect(flushes).toEqual([[1, 2, 3]]);
});

test("nobody waits for long: not where there is enough, nor for ever where there is always more", async () => {
  const soon = overTurns({ turnsMax: 10, emptyMax: 5, enough: 2 });
  const first = [soon.add(1), soon.add(2)];
  await turn();
  expect(soon.flushes).toEqual([[1, 2]]);
  const busy = overTurns({ turnsMax: 3, emptyMax: 5, enough: 100 });
  const all: Promise<number>[] = [];
  for (let item = 0; item < 10 && busy.flushes.length === 0; item++) {
    all.push(busy.add(item));
    await turn();
  }
  expect(busy.flushes).toHaveLength(1);
  await Promise.all([...first, ...all]);
});

test("an error is its own caller's alone", async () => {
  const { add, flushes } = overTurns({ turnsMax: 1, emptyMax: 0, enough: 100 });
  const settled = await Promise.allSettled([add(1), add(-1), add(3)]);
  expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(flushes).toHaveLength(1);
});

import { expect, test } from "vitest";
import { atMost, makeShared } from "./shared.ts";

function gate() {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

test("a hundred viewers who ask at once cost one read", async () => {
  const shared = makeShared();
  let reads = 0;
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => shared.get("queues", async () => ++reads)),
  );
  expect(reads).toBe(1);
  expect(answers.every(({ value }) => value === 1)).toBe(true);
});

test("what cost long is read again only after thirty times as long, so watching takes at most a thirtieth", async () => {
  let now = 0;
  const shared = makeShared(() => now);
  const read = async () => (now += 200);
  await shared.get("dear", read);
  now = 200 + 5999;
  expect(await shared.get("dear", read)).toEqual({ value: 200, ageMs: 6199 });
  now = 200 + 6001;
  expect((await shared.get("dear", read)).value).toBe(6401);
});

test("however many different things are watched, all together take at most a thirtieth", async () => {
  let now = 0;
  let spent = 0;
  const shared = makeShared(() => now);
  const read = async () => {
    now += 50;
    spent += 50;
  };
  const keys = Array.from({ length: 40 }, (_, index) => `look ${index}`);
  for (const key of keys) await shared.get(key, read);
  const [begun, before] = [now, spent];
  while (now < begun + 600_000) {
    for (const key of keys) await shared.get(key, read);
    now += 500;
  }
  expect((spent - before) / (now - begun)).toBeLessThan(1 / 28);
});

test("a failure is told to whoever asked, and is not kept", async () => {
  const shared = makeShared();
  await expect(shared.get("broken", () => Promise.reject(new Error("away")))).rejects.toThrow("away");
  expect((await shared.get("broken", async () => "back")).value).toBe("back");
});

test("after an act everybody sees what it changed", async () => {
  const shared = makeShared();
  await shared.get("queue", async () => "running");
  shared.forget();
  expect((await shared.get("queue", async () => "paused")).value).toBe("paused");
});

test("no more run at once than may, whoever fails", async () => {
  const inTurn = atMost(2);
  const [first, second, third] = [gate(), gate(), gate()];
  const begun: number[] = [];
  const work = (number: number, { opened }: ReturnType<typeof gate>) =>
    inTurn(async () => {
      begun.push(number);
      await opened;
      if (number === 1) throw new Error("failed");
    });
  const all = Promise.allSettled([work(1, first), work(2, second), work(3, third)]);
  await Promise.resolve();
  expect(begun).toEqual([1, 2]);
  first.open();
  second.open();
  third.open();
  expect((await all).map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"]);
  expect(begun).toEqual([1, 2, 3]);
});

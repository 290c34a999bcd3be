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
  for (let time = 0; time < 3; time++) {
    await shared.get("dear", read);
    now += 1001;
  }
  const begun = now - 1001;
  now = begun + 5999;
  expect((await shared.get("dear", read)).value).toBe(begun);
  now = begun + 6001;
  expect((await shared.get("dear", read)).value).toBe(begun + 6201);
});

test("a look that was slow once, as at a start, is not believed to be dear", async () => {
  let now = 0;
  const shared = makeShared(() => now);
  const looks = [4000, 10, 10, 10].map((cost) => async () => (now += cost));
  for (const look of looks) {
    await shared.get("home", look);
    now += 1001;
  }
  const before = now;
  expect((await shared.get("home", async () => "new")).value).toBe("new");
  expect(now).toBe(before);
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
  for (let time = 0; time < 3; time++) {
    for (const key of keys) await shared.get(key, read);
    now += 1001;
  }
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

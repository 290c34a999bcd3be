import { expect, test } from "vitest";
import { downstream } from "./downstream.ts";

const refused = () => Promise.reject(Object.assign(new Error("refused"), { code: "ECONNREFUSED" }));
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => "ok",
    (cause: { code?: string }) => cause.code,
  );

test("W-29 a hundred callers, five places: never more than five at once", async () => {
  const guarded = downstream("bank", { concurrency: 5, timeout: "5s" });
  let now = 0;
  let max = 0;
  await Promise.all(
    Array.from({ length: 100 }, () =>
      guarded.call(async () => {
        max = Math.max(max, ++now);
        await new Promise((resolve) => setImmediate(resolve));
        now--;
      }),
    ),
  );
  expect(max).toBe(5);
  expect(guarded.state()).toEqual({ running: 0, waiting: 0, circuit: "closed" });
});

test("W-30 after failures in a row calls stop with a retryable error, and another downstream still flows", async () => {
  const broken = downstream("broken", {
    concurrency: 5,
    timeout: "5s",
    breaker: { failures: 3, trialMs: 60_000 },
  });
  const healthy = downstream("healthy", { concurrency: 5, timeout: "5s" });
  for (let i = 0; i < 3; i++) expect(await codeOf(broken.call(refused))).toBe("ECONNREFUSED");
  let called = false;
  const refusal = await broken.call(() => void (called = true)).catch((cause: unknown) => cause);
  expect(refusal).toMatchObject({ code: "TUNTAS_DOWNSTREAM_OPEN", retryable: true });
  expect(called).toBe(false);
  expect(broken.state()).toMatchObject({ circuit: "open" });
  expect(await healthy.call(() => "fine")).toBe("fine");
});

test("W-30 when it is back, one call finds out and the circuit closes", async () => {
  const breaker = { failures: 1, trialMs: 1 };
  for (let times = 0; times < 20; times++) {
    const guarded = downstream("back", { concurrency: 2, timeout: "5s", breaker });
    await codeOf(guarded.call(refused));
    while (guarded.state().circuit !== "trying") await new Promise((resolve) => setImmediate(resolve));
    expect(await guarded.call(() => "back")).toBe("back");
    expect(guarded.state()).toMatchObject({ circuit: "closed" });
  }
});

test("a failure that is the request's own does not open the circuit", async () => {
  const guarded = downstream("strict", { concurrency: 2, timeout: "5s", breaker: { failures: 1 } });
  await codeOf(guarded.call(() => Promise.reject(new TypeError("mine"))));
  expect(guarded.state()).toMatchObject({ circuit: "closed" });
});

test("a call that takes too long fails with a coded error, its signal aborts, and it counts as the other side's failure", async () => {
  const guarded = downstream("slow", { concurrency: 1, timeout: "20ms", breaker: { failures: 1 } });
  let aborted = false;
  const call = guarded.call(
    (signal) => new Promise(() => signal.addEventListener("abort", () => (aborted = true))),
  );
  expect(await codeOf(call)).toBe("TUNTAS_DOWNSTREAM_TIMEOUT");
  expect(aborted).toBe(true);
  expect(guarded.state()).toEqual({ running: 0, waiting: 0, circuit: "open" });
});

test("where all may wait that may, the next is refused at once", async () => {
  const guarded = downstream("full", { concurrency: 1, waiting: 1, timeout: "5s" });
  let finish!: () => void;
  const first = guarded.call(() => new Promise<void>((resolve) => (finish = resolve)));
  const second = guarded.call(() => "second");
  expect(await codeOf(guarded.call(() => "third"))).toBe("TUNTAS_DOWNSTREAM_FULL");
  expect(guarded.state()).toMatchObject({ running: 1, waiting: 1 });
  finish();
  await Promise.all([first, second]);
});

test("A-21 a call that could not be answered is tried again, after gaps that grow and differ", async () => {
  const breaker = { failures: 10_000 };
  const guarded = downstream("blinks", { concurrency: 9, timeout: "5s", breaker, retry: { attempts: 3 } });
  const made: number[][] = [];
  const blink = async () => {
    const at: number[] = [];
    made.push(at);
    await guarded.call(() => (at.push(performance.now()), at.length < 3 ? refused() : "back"));
  };
  await Promise.all([blink(), blink(), blink()]);
  const gaps = made.map(([first, second, third]) => [second! - first!, third! - second!] as const);
  for (const [gap, next] of gaps) {
    expect(gap).toBeGreaterThanOrEqual(49);
    expect(next).toBeGreaterThanOrEqual(99);
  }
  expect(new Set(gaps.flat().map(Math.round)).size).toBeGreaterThan(1);
});

test("A-21 while it is down all tries together stay within the budget; what is refused for itself is not tried again", async () => {
  const breaker = { failures: 10_000 };
  const guarded = downstream("down", { concurrency: 5, timeout: "5s", breaker, retry: { attempts: 5 } });
  let made = 0;
  const down = () => (made++, refused());
  const calls = 60;
  await Promise.all(Array.from({ length: calls }, () => codeOf(guarded.call(down))));
  // Ten tries were saved, and each call earns a tenth.
  expect(made).toBeGreaterThan(calls);
  expect(made).toBeLessThanOrEqual(calls + 10 + calls / 10);
  made = 0;
  expect(await codeOf(guarded.call(() => (made++, Promise.reject(new TypeError("mine")))))).toBeUndefined();
  expect(made).toBe(1);
});

import { expect, test } from "vitest";
import { z } from "zod";
import { app, queue, schedule } from "../index.ts";
import { refusal } from "../core/refusal.fixture.ts";
import { batch, type BatchOptions } from "./index.ts";
import { leftMsOf, perMinuteOf, verbsOf } from "./state.ts";

const whole: BatchOptions<any, any> = {
  input: z.object({ month: z.string() }),
  partitions: () => [{ key: "all" }],
  handle: () => undefined,
  validate: () => [],
  promote: () => undefined,
  staging: { table: "statement_staging", kept: "7d" },
  retry: { attempts: 3, base: "1s", max: "1m" },
  timeout: "5m",
  concurrency: 4,
  priority: 0,
  runsOn: "anywhere",
  owner: "billing-team",
  runbook: "runbooks/statements.md",
};
const declare = (more: object) => batch("statements", { ...whole, ...more });

test("B-08: what a batch leaves out is refused, all of it at once", () => {
  const message = refusal(() => batch("no good", {} as never));
  expect(message).toMatch(/^TUNTAS_BATCH_OPTIONS .*letters, digits/);
  for (const field of [
    "input",
    "partitions",
    "handle",
    "validate",
    "promote",
    "staging.table",
    "staging.kept",
    "retry.attempts",
    "retry.base",
    "timeout",
    "concurrency",
    "priority",
    "runsOn",
    "owner",
    "runbook",
  ])
    expect(message).toContain(`${field}: expected`);
  expect(() => declare({})).not.toThrow();
});

test.each([
  [{ staging: { table: "a; drop table b", kept: "7d" } }, /staging\.table: expected the name of a table/],
  [{ staging: { table: "a", kept: "for ever" } }, /staging\.kept: expected a duration/],
  [
    { retry: { attempts: 0, base: "1s", max: "1m" } },
    /retry\.attempts: expected a whole number from 1 to 100, got 0/,
  ],
  [{ timeout: "1y" }, /timeout: expected a duration/],
  [{ concurrency: 1.5 }, /concurrency: expected a whole number/],
  [{ announce: { kind: "queue" } }, /announce: expected a queue/],
  [{ owner: "\ud800" }, /expected text without NUL/],
  [{ retention: "1s" }, /retention: expected a duration/],
])("%o is refused", (more, why) => {
  expect(() => declare(more)).toThrow(why);
});

test("two batches of one name are refused, and a queue that has the name of a batch's", () => {
  const refused = expect.objectContaining({ code: "TUNTAS_BATCH_REGISTERED" });
  expect(() => app({ one: declare({}), other: declare({}) })).toThrow(refused);
  const taken = queue("batch-statements", {
    message: z.unknown(),
    deadLetter: { after: 3, retention: "14d", owner: "o", runbook: "r" },
  });
  expect(() => app({ one: declare({}), taken })).toThrow(refused);
});

test("a schedule may start a batch of its application only", () => {
  const nightly = (target: ReturnType<typeof declare>) =>
    schedule("nightly", {
      when: "rate(1 day)",
      timeZone: "UTC",
      overlap: "skip",
      catchUp: "skip",
      target,
      input: { month: "2026-03" },
      succeedsWithin: "1h",
      owner: "billing-team",
      runbook: "r",
    });
  const statements = declare({});
  expect(() => app({ statements, nightly: nightly(statements) })).not.toThrow();
  expect(() => app({ nightly: nightly(statements) })).toThrow(/expected its batch statements among/);
  const strict = declare({ input: z.object({ year: z.string() }) });
  expect(() => app({ strict, nightly: nightly(strict) })).toThrow(/does not take what it gives/);
});

test("B-19: the time that is left goes by the pace since the job was last begun", () => {
  expect(leftMsOf({ open: 30, endedSince: 10, sinceMs: 5000 })).toBe(15_000);
  expect(leftMsOf({ open: 30, endedSince: 0, sinceMs: 5000 })).toBeNull();
  expect(leftMsOf({ open: 0, endedSince: 0, sinceMs: 0 })).toBe(0);
  expect(perMinuteOf({ open: 30, endedSince: 10, sinceMs: 5000 })).toBe(120);
  expect(perMinuteOf({ open: 30, endedSince: 0, sinceMs: 5000 })).toBeNull();
});

test("what can be said to a job follows from its state", () => {
  expect(verbsOf("running")).toEqual(["pause", "cancel"]);
  expect(verbsOf("paused")).toEqual(["resume", "cancel"]);
  expect(verbsOf("failed")).toEqual(["retry", "cancel"]);
  expect(verbsOf("completed")).toEqual([]);
});

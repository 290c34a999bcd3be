import { expect, test } from "vitest";
import { z } from "zod";
import { app, queue } from "../../index.ts";
import { backfill, type BackfillOptions } from "./index.ts";

const good: BackfillOptions<any, any, string> = {
  scope: z.object({}),
  records: {
    table: "item",
    key: "id",
    columns: ["id"],
    where: () => ({ text: "true", values: [] }),
    final: "none",
  },
  partitions: () => [{ key: "all" }],
  handle: () => undefined,
  throttle: { perSecond: 100, slowAbove: { database: "50ms", downstream: "1s" } },
  abort: { errorShare: 0.01, downstream: "5s" },
  window: "any",
  verify: () => [],
  rollback: { plan: "by hand" },
  timeout: "1m",
  concurrency: 2,
  runsOn: "anywhere",
  owner: "fees-team",
  runbook: "runbooks/fees.md",
};

test("B-13: what leaves out a policy is refused, with all that it leaves out", () => {
  const message = (() => {
    try {
      backfill("fees", {} as never);
      return "";
    } catch (cause) {
      return (cause as Error).message;
    }
  })();
  for (const field of [
    "scope",
    "records.table",
    "records.key",
    "records.columns",
    "records.where",
    "records.final",
  ])
    expect(message).toContain(`${field}: expected`);
  for (const field of ["partitions", "handle", "verify", "throttle.perSecond", "throttle.slowAbove.database"])
    expect(message).toContain(`${field}: expected`);
  for (const field of ["throttle.slowAbove.downstream", "abort.errorShare", "abort.downstream", "window"])
    expect(message).toContain(`${field}: expected`);
  for (const field of ["rollback.plan", "timeout", "concurrency", "runsOn", "owner", "runbook"])
    expect(message).toContain(`${field}: expected`);
});

test.each([
  ["a table that is no name", { records: { ...good.records, table: "item; drop table x" } }, "records.table"],
  ["a column that is no name", { records: { ...good.records, columns: ['id"'] } }, "records.columns"],
  ["no column of a key", { records: { ...good.records, key: [] } }, "records.key"],
  ["no final condition", { records: { ...good.records, final: "" } }, "records.final"],
  ["no rate", { throttle: { ...good.throttle, perSecond: 0 } }, "throttle.perSecond"],
  ["a share over one", { abort: { ...good.abort, errorShare: 5 } }, "abort.errorShare"],
  ["a window of no length", { window: { from: "21:00", to: "21:00", timeZone: "UTC" } }, "window"],
  [
    "a window without a zone",
    { window: { from: "21:00", to: "06:00", timeZone: "Moon/Sea" } },
    "window: time zone",
  ],
  ["an hour that there is not", { window: { from: "24:00", to: "06:00", timeZone: "UTC" } }, "window"],
  ["no plan for a rollback", { rollback: { plan: " " } }, "rollback.plan"],
  ["text that cannot be kept", { owner: "a\0" }, "expected text without NUL"],
])("%s is refused", (_, more, said) => {
  expect(() => backfill("fees", { ...good, ...more } as never)).toThrow(said);
});

test("two of one name, and a queue in the place of its own, are refused", () => {
  const of = backfill("fees", good);
  expect(() => app({ of, again: backfill("fees", good) })).toThrow(/the name fees is there twice/);
  const deadLetter = { after: 1, owner: "o", runbook: "r", retention: "14d" } as const;
  const taken = queue("backfill-fees", { message: z.unknown(), deadLetter });
  expect(() => app({ of, taken })).toThrow(/the name backfill-fees is there twice/);
  expect(of.place).toMatch(/declaration\.test\.ts:\d+$/);
});

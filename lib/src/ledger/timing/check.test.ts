import { expect, test } from "vitest";
import { checkTiming } from "./check.ts";

test("P-32 the seeds' own contradictory numbers are found, each with both numbers, the place and the fix", () => {
  const findings = checkTiming([
    {
      name: "timing example",
      place: "seed.md:880",
      lease: "2m",
      heartbeat: "90s",
      taskTimeout: "30m",
      businessExpiry: "35m",
    },
    { name: "duplicate check", place: "seed.md:370", lease: "2m", heartbeat: "120s", taskTimeout: "1800s" },
    { name: "case activation", place: "seed.md:1100", taskTimeout: "604800s", businessExpiry: "30m" },
  ]);
  expect(findings.map(({ place, values }) => [place, values.map(({ what, ms }) => [what, ms])])).toEqual([
    [
      "seed.md:880",
      [
        ["lease", 120_000],
        ["heartbeat", 90_000],
      ],
    ],
    [
      "seed.md:370",
      [
        ["lease", 120_000],
        ["heartbeat", 120_000],
      ],
    ],
    [
      "seed.md:1100",
      [
        ["task timeout", 604_800_000],
        ["business expiry", 1_800_000],
      ],
    ],
  ]);
  expect(findings[0]).toMatchObject({
    message: "timing example: the lease of 2 min must be shorter than the heartbeat of 90 s",
    fix: "Make the lease shorter than 90 s, or the heartbeat longer than 2 min.",
    rule: "lease < heartbeat < task timeout < business expiry",
  });
});

test("P-32 numbers in order give no finding, and a rung that is not declared is passed over", () => {
  expect(
    checkTiming([
      { name: "good", lease: "30s", heartbeat: "90s", taskTimeout: "30m", businessExpiry: "35m" },
      { name: "bare" },
    ]),
  ).toEqual([]);
  expect(checkTiming([{ name: "gap", lease: "40m", taskTimeout: "30m" }])).toHaveLength(1);
});

test("Q-20 a visibility shorter than its budget is found with the sum", () => {
  const [finding] = checkTiming([
    {
      name: "order-work",
      place: "orders.ts:12",
      visibility: "30s",
      p99: "20s",
      downstream: "10s",
      retries: "5s",
    },
  ]);
  expect(finding).toMatchObject({
    values: [
      { what: "time needed", ms: 36_000 },
      { what: "visibility", ms: 30_000 },
    ],
    message:
      "order-work: the visibility of 30 s is shorter than the 36 s that an attempt may take (p99 20 s + downstream 10 s + retries 5 s + margin 1 s)",
    fix: "Make the visibility at least 36 s, or have the attempt take less.",
  });
  expect(
    checkTiming([{ name: "order-work", visibility: "36s", p99: "20s", downstream: "10s", retries: "5s" }]),
  ).toEqual([]);
});

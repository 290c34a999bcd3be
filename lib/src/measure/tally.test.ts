import { expect, test } from "vitest";
import { metrics, signals } from "../engine/signals.ts";
import { startTally } from "./tally.ts";

const seen = signals({
  "test.tallied": { meaning: "a test", fields: { queueId: "a queue", kind: "a kind", count: "how many" } },
  "test.bare": { meaning: "a test", fields: {} },
});
const list = metrics({
  test_tallied_total: {
    kind: "counter",
    meaning: "a test",
    labels: ["queue", "event", "kind"],
    from: [
      { signal: "test.tallied", fields: { queue: "queueId" }, fixed: { event: "seen" }, amount: "count" },
    ],
  },
  test_bare_total: { kind: "counter", meaning: "a test", labels: [], from: [{ signal: "test.bare" }] },
});

test("signals are counted by their labels, until the tally is closed; past 2,000 values they are counted together", () => {
  const tally = startTally([list]);
  const counted = () => [...tally.counts()].map(({ name, values, total }) => [name, values.join(" "), total]);
  seen.publish("test.tallied", { queueId: 7, kind: "a", count: 2 });
  seen.publish("test.tallied", { queueId: 7, kind: "a", count: 3 });
  seen.publish("test.tallied", { queueId: 7, kind: undefined, count: 1 });
  seen.publish("test.bare", {});
  seen.publish("test.bare", {});
  expect(counted()).toEqual([
    ["test_tallied_total", "7 seen a", 5],
    ["test_tallied_total", "7 seen ", 1],
    ["test_bare_total", "", 2],
  ]);
  for (let each = 0; each < 2500; each++)
    seen.publish("test.tallied", { queueId: 8, kind: `k${each}`, count: 1 });
  const rest = counted().filter(([, values]) => String(values).startsWith("(other)"));
  expect(rest).toEqual([["test_tallied_total", "(other) (other) (other)", 502]]);
  tally.close();
  seen.publish("test.bare", {});
  expect(counted()).toContainEqual(["test_bare_total", "", 2]);
});

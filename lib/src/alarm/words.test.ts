import { expect, test } from "vitest";
import type { AlarmOptions } from "./contract.ts";
import { conditionText, reasonText } from "./words.ts";

const base: AlarmOptions = {
  metric: { name: "orders_failed_total" },
  when: { above: 0 },
  of: [1, 1],
  missing: "ignore",
  owner: "orders-team",
  runbook: "runbooks/orders.md",
  notify: [],
};
const old: AlarmOptions = {
  ...base,
  metric: { name: "tuntas_queue_oldest_age_seconds" },
  when: { atLeast: 120 },
  and: { metric: { name: "tuntas_worker_processes" }, when: { below: 1 } },
  of: [2, 3],
};

test("an alarm says what there is and what is too much, in words", () => {
  expect(reasonText(base, ["good", "breaching"], 3)).toBe("3 in the last minute; more than 0 is an alarm");
  expect(reasonText({ ...base, period: "10s" }, ["missing"], null)).toBe(
    "no figure in the last 10s; more than 0 is an alarm",
  );
  expect(reasonText(old, ["good", "missing", "breaching", "breaching"], 127.4)).toBe(
    "2.1m in the last minute; at least 2m while tuntas_worker_processes is less than 1 in 2 of the last 3 minutes, 1 without a figure; 2 are an alarm",
  );
  const rising: AlarmOptions = { ...base, metric: { name: "depth", statistic: "growth" } };
  expect(reasonText(rising, ["good"], 0)).toBe(
    "a rise of 0 in the last minute; a rise of more than 0 is an alarm",
  );
});

test("its bound is told in words too", () => {
  expect(conditionText(base)).toBe("more than 0 in a minute");
  expect(conditionText({ ...old, and: undefined as never, period: "30s" })).toBe(
    "at least 2m in 2 of 3 periods of 30s",
  );
});

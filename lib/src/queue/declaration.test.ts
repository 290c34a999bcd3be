import { expect, test } from "vitest";
import { z } from "zod";
import { queue, worker } from "./declaration.ts";

const deadLetter = {
  after: 5,
  owner: "orders-team",
  runbook: "runbooks/orders.md",
  retention: "14d",
} as const;
const message = z.object({ id: z.string() });
const sound = { idempotencyKey: "none", timeout: "20s", handle: () => undefined } as const;
const declare = (options: object) => queue("order-work", { message, deadLetter, ...options });

const wrong: readonly (readonly [string, () => unknown, string, RegExp])[] = [
  [
    "no deadLetter",
    () => declare({ deadLetter: undefined }),
    "TUNTAS_QUEUE_OPTIONS",
    /"order-work": expected deadLetter, such as .* got undefined/,
  ],
  [
    "no owner",
    () => declare({ deadLetter: { ...deadLetter, owner: "" } }),
    "TUNTAS_QUEUE_OPTIONS",
    /deadLetter\.owner, got ''/,
  ],
  [
    "a retention in words",
    () => declare({ deadLetter: { ...deadLetter, retention: "two weeks" } }),
    "TUNTAS_DURATION_INVALID",
    /"order-work": deadLetter\.retention: .*"two weeks"/,
  ],
  [
    "a number",
    () => declare({ visibilityTimeout: 30 }),
    "TUNTAS_DURATION_INVALID",
    /"order-work": visibilityTimeout: .*30/,
  ],
  ["a delay without unit", () => declare({ delay: "5" }), "TUNTAS_DURATION_INVALID", /"order-work": delay: /],
  [
    "a worker's timeout",
    () => worker(declare({}), { ...sound, timeout: "20 seconds" as "20s" }),
    "TUNTAS_DURATION_INVALID",
    /"order-work": worker: timeout: .*"20 seconds"/,
  ],
  [
    "a number as text",
    () => worker(declare({}), { ...sound, concurrency: "16" as unknown as number }),
    "TUNTAS_QUEUE_OPTIONS",
    /"order-work": worker: expected concurrency from 1 to 1000, got '16'/,
  ],
  [
    "a worker's backoff",
    () => worker(declare({}), { ...sound, backoff: { base: "1s", max: undefined as unknown as "1s" } }),
    "TUNTAS_DURATION_INVALID",
    /"order-work": worker: backoff\.max: .*undefined/,
  ],
];

test.each(wrong)("Q-14 %s: the error names the queue and the field", (_, declaring, code, text) => {
  expect(declaring).toThrow(expect.objectContaining({ code, message: expect.stringMatching(text) }));
});

test("a declaration knows its line", () => {
  const orders = declare({});
  expect(orders.place).toMatch(/declaration\.test\.ts:\d+$/);
  expect(worker(orders, sound).place).toMatch(/declaration\.test\.ts:\d+$/);
});

import { describe, expect, test } from "vitest";
import { z } from "zod";
import { queue } from "tuntas";
import { resultsOf } from "./batch.ts";
import { hiddenSeconds } from "./limits.ts";
import { attributesFor, differences } from "./state.ts";

const declared = queue("order-work.fifo", {
  message: z.object({ id: z.string() }),
  visibilityTimeout: "60s",
  retention: "1d",
  contentDeduplication: true,
  deadLetter: { after: 5, owner: "orders", runbook: "runbooks/orders.md", retention: "14d" },
});
const wanted = { queue: declared as any, timeoutMs: 45_500 };
const arn = "arn:aws:sqs:eu-west-1:123456789012:order-work-dlq.fifo";

describe("what a queue is to be like", () => {
  test("one that is made as declared does not differ", () => {
    expect(differences(wanted, attributesFor(wanted, arn))).toEqual([]);
  });

  test("all that differs is named at once", () => {
    const attributes = { VisibilityTimeout: "30", MessageRetentionPeriod: "345600" };
    expect(
      differences(wanted, attributes).map(({ setting, expected, got }) => [setting, expected, got]),
    ).toEqual([
      ["FifoQueue", "true", "false"],
      ["VisibilityTimeout", "60", "30"],
      ["MessageRetentionPeriod", "86400", "345600"],
      ["ContentBasedDeduplication", "true", "false"],
      ["VisibilityTimeout", "at least 46, the handler's timeout", "30"],
      ["RedrivePolicy", "a dead-letter queue after 5 receives", "none"],
    ]);
  });

  test("the count of the redrive policy may be a text, and must be the declared one", () => {
    const made = attributesFor(wanted, arn);
    const policy = (maxReceiveCount: unknown) => ({
      ...made,
      RedrivePolicy: JSON.stringify({ deadLetterTargetArn: arn, maxReceiveCount }),
    });
    expect(differences(wanted, policy("5"))).toEqual([]);
    expect(differences(wanted, policy(3))).toEqual([
      { setting: "RedrivePolicy", expected: "maxReceiveCount 5", got: "3" },
    ]);
  });
});

test.each([
  [0, 0, 0],
  [1, 0, 1],
  [1500, 0, 2],
  [86_400_000, 0, 43_195],
  [60_000, 12 * 3_600_000 - 35_000, 30],
  [60_000, 13 * 3_600_000, 0],
])(
  "%d ms, %d ms after the receive, are %d whole seconds, twelve hours in all",
  (wantedMs, heldMs, seconds) => {
    expect(hiddenSeconds(wantedMs, heldMs)).toBe(seconds);
  },
);

test("each entry of a batch answers for itself: done, its own fault, the service's, or left out", () => {
  const results = resultsOf<{ n: number }>("delete messages", 4, {
    Successful: [{ Id: "0", n: 7 }],
    Failed: [
      { Id: "2", Code: "ReceiptHandleIsInvalid", Message: "unknown", SenderFault: true },
      { Id: "1", Code: "InternalError", SenderFault: false },
    ],
  });
  expect(results[0]).toMatchObject({ n: 7 });
  expect(results.slice(1)).toMatchObject([
    { code: "TUNTAS_QUEUE_UNREACHABLE", retryable: true },
    { code: "TUNTAS_QUEUE_REFUSED", retryable: false },
    { code: "TUNTAS_QUEUE_UNREACHABLE", retryable: true },
  ]);
});

// In plain JavaScript nothing but the declaration itself can say that it does not know an option.
import { expect, test } from "vitest";
import { alarm } from "./alarm/declaration.ts";
import { backfill } from "./batch/backfill/declaration.ts";
import { batch } from "./batch/declaration.ts";
import { refusal } from "./core/refusal.fixture.ts";
import type { Schema } from "./core/schema.ts";
import { reconciliation } from "./ledger/index.ts";
import { command } from "./operation/command/declaration.ts";
import { queue, worker } from "./queue/declaration.ts";
import { schedule } from "./schedule/declaration.ts";
import { service } from "./service/declaration.ts";
import { consumer, stream } from "./stream/declaration.ts";
import { approval } from "./workflow/approval/declaration.ts";
import { task, workflow } from "./workflow/declaration.ts";

const message: Schema = { "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }) } };
const deadLetter = {
  after: 3,
  owner: "orders-team",
  runbook: "runbooks/orders.md",
  retention: "14d",
} as const;
const orders = queue("orders", { message, deadLetter });
const facts = {
  record: message,
  partitions: 1,
  key: "order",
  retention: "1d",
  owner: "o",
  runbook: "r",
} as const;

const declarations: readonly (readonly [kind: string, declare: (options: never) => unknown])[] = [
  ["queue", (options) => queue("orders", options)],
  ["worker", (options) => worker(orders, options)],
  ["task", (options) => task(options)],
  ["workflow", (options) => workflow("Orders", options)],
  ["approval", (options) => approval(options)],
  ["schedule", (options) => schedule("nightly", options)],
  ["stream", (options) => stream("facts", options)],
  ["consumer", (options) => consumer(stream("facts", facts), options)],
  ["batch", (options) => batch("settle", options)],
  ["backfill", (options) => backfill("mend", options)],
  ["service", (options) => service("api", options)],
  ["alarm", (options) => alarm("orders-old", options)],
  ["command", (options) => command("repair", options)],
  ["reconciliation", (options) => reconciliation(options)],
];

/** By option that is mistyped: which one was meant, and who has it. */
const mistyped: Readonly<Record<string, readonly [meant: string, kinds: readonly string[]]>> = {
  visibilityTimeot: ["visibilityTimeout", ["queue"]],
  concurency: ["concurrency", ["worker", "workflow", "batch", "backfill"]],
  timout: ["timeout", ["worker", "task", "consumer", "batch", "backfill", "command"]],
  owners: ["owner", ["schedule", "stream", "batch", "backfill", "alarm", "command", "reconciliation"]],
  stopTimeOut: ["stopTimeout", ["service"]],
};

const cases = Object.entries(mistyped).flatMap(([given, [meant, kinds]]) =>
  kinds.map((kind) => [kind, given, meant] as const),
);

test.each(cases)("%s refuses %s and asks whether %s was meant", (kind, given, meant) => {
  const declare = declarations.find(([name]) => name === kind)![1];
  expect(refusal(() => declare({ [given]: "1m" } as never))).toContain(
    `${given}: there is no such option; did you mean ${meant}?`,
  );
});

test.each(declarations)(
  "%s names what it knows where nothing is near, and an inherited name is none",
  (_, declare) => {
    expect(refusal(() => declare({ toString: 1 } as never))).toMatch(
      /^TUNTAS_\w+ .*toString: there is no such option; known are \w+, /,
    );
  },
);

test("an option within an option is looked at too, and so is each of a list", () => {
  const within = { message, deadLetter: { ...deadLetter, replayForbiden: {} } };
  expect(refusal(() => queue("orders", within as never))).toBe(
    'TUNTAS_QUEUE_OPTIONS queue "orders": deadLetter.replayForbiden: there is no such option; did you mean replayForbidden?',
  );
  const listed = { notify: [{ webhook: "http://localhost/" }, { webhook: "http://localhost/", header: {} }] };
  expect(refusal(() => alarm("orders-old", listed as never))).toContain("did you mean headers?");
});

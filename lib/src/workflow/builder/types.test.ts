// What must not compile, and what must: `tsc` is the judge, in the check of types. An expectation that does not fail is an
// error there.
import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { rejected } from "../../core/outcome.ts";
import { approval } from "../approval/declaration.ts";
import { task, workflow } from "../declaration.ts";
import type { Machine } from "./contract.ts";
import { eq, gt, item, jsonata, orElse, shape } from "./expression.ts";
import { machine } from "./flow.ts";
import type { FailedChild } from "./items.ts";
import { s3Inventory, s3Items, s3Objects } from "./run.ts";

interface Order {
  readonly orderId: string;
  readonly customer: { readonly name: string; readonly email?: string };
  readonly lines: readonly { readonly sku: string; readonly count: number }[];
}

const reserve = task({
  input: z.object({ orderId: z.string() }),
  idempotent: true,
  handle: ({ orderId }) => ({ orderId, reservation: 7, at: new Date(0) }),
});
const charge = task({
  input: z.object({ orderId: z.string(), reservation: z.number() }),
  handle: ({ reservation }) =>
    reservation > 0 ? { chargeId: "c1", status: "PAID" as "PAID" | "OPEN" } : rejected({ code: "NO" }),
});
const ship = (input: { chargeId: string }) => Promise.resolve({ parcel: input.chargeId });
const ask = approval({
  input: z.object({ chargeId: z.string() }),
  request: () => ({}) as never,
});

const start = () => machine<Order>();

test("what a state gives is what the next one takes", () => {
  const built = start().task("Reserve", reserve).task("Charge", charge).task("Ship", ship).end();
  expectTypeOf(built).toExtend<Machine<Order, { readonly parcel: string }>>();

  // @ts-expect-error an order has no reservation
  start().task("Charge", charge);
  const reserved = start().task("Reserve", reserve);
  // @ts-expect-error a charge is needed before it can be shipped
  reserved.task("Ship", ship);
  // @ts-expect-error nor can it be asked about
  reserved.approval("Ask", ask);
  reserved.task("Ship", ship, { input: ($) => ({ chargeId: $.context.Execution.Name }) });
  // @ts-expect-error the reservation is a number
  reserved.task("Ship", ship, { input: ($) => ({ chargeId: $.input.reservation }) });
  // @ts-expect-error chargeId is missing
  start().task("Ship", ship, { input: () => ({}) });
});

test("a date arrives as the text that JSON makes of it, an outcome not at all", () => {
  const reserved = start().task("Reserve", reserve);
  const looked = reserved.pass("Look", ($) => ({ at: $.input.at }));
  expectTypeOf(looked.end()).toExtend<Machine<Order, { readonly at: string }>>();
  expectTypeOf(reserved.task("Charge", charge).end()).toExtend<
    Machine<Order, { readonly chargeId: string }>
  >();
});

test("a machine has ended everywhere", () => {
  const open = start().task("Reserve", reserve);
  // @ts-expect-error it goes no further, and has not ended
  expect(() => workflow("open", { definition: open })).toThrow();
  const choosing = start().choice("Which");
  const half = choosing.when(
    ($) => eq($.input.orderId, "o1"),
    (flow) => flow.end(),
  );
  // @ts-expect-error a choice without `otherwise` takes no state
  expect(() => half.task("Reserve", reserve)).toThrow();
  // @ts-expect-error nor does it end
  expect(() => half.end()).toThrow();
  // @ts-expect-error each branch of a Parallel ends
  expect(() => start().parallel("Both", [(flow) => flow.task("Reserve", reserve)])).toThrow();
  // @ts-expect-error nothing comes after the end
  expect(() => open.end().task("Charge", charge)).toThrow();
  const closed = half.otherwise((flow) => flow.fail("No", { error: "No" }));
  // @ts-expect-error both ways have ended
  expect(() => closed.task("Reserve", reserve)).toThrow();
  workflow("closed", { definition: closed });
});

test("it goes to states that are there, with what they take", () => {
  const reserved = start().task("Reserve", reserve);
  // @ts-expect-error there is no such state
  reserved.next("Nowhere");
  // @ts-expect-error Reserve was given an order, and this is none
  reserved.next("Reserve");
  // @ts-expect-error a name is there once
  expect(() => reserved.task("Reserve", reserve)).toThrow();
  reserved.pass("Again", ($) => $.context.Execution.Input).next("Reserve");
});

test("expressions fit what they are compared and mapped to", () => {
  const go = <F>(flow: F): F => flow;
  const paid = start().task("Reserve", reserve).task("Charge", charge).choice("Paid?");
  paid.when(($) => eq($.input.status, "PAID"), go);
  // @ts-expect-error that is not one of its words
  paid.when(($) => eq($.input.status, "PAYED"), go);
  // @ts-expect-error a text is no condition
  paid.when(($) => $.input.status, go);
  // @ts-expect-error a text is not compared with a number
  paid.when(($) => gt($.input.chargeId, 3), go);
  // @ts-expect-error an address may be absent, and an absent value fails the state
  start().pass("Mail", ($) => ({ to: $.input.customer.email }));
  start().pass("Mail", ($) => ({ to: orElse($.input.customer.email, "nobody") }));
  // @ts-expect-error so may the first line
  start().pass("First", ($) => item($.input.lines, 0));
  // @ts-expect-error there is no such field
  start().pass("Typo", ($) => ({ to: $.input.costumer }));
});

test("ways that meet again give either, and only variables of all of them are there", () => {
  const met = start()
    .choice("Which")
    .when(
      ($) => eq($.input.orderId, "o1"),
      (flow) => flow.pass("A", () => ({ a: 1, both: "a" }), { assign: () => ({ x: 1, y: 2 }) }),
    )
    .otherwise((flow) => flow.pass("B", () => ({ b: true, both: "b" }), { assign: () => ({ x: 3 }) }));
  met.pass("Use", ($) => ({ both: $.input.both, x: $.vars.x }));
  // @ts-expect-error only one way gives it
  met.pass("Use", ($) => ({ a: $.input.a }));
  // @ts-expect-error only one way assigns it
  met.pass("Use", ($) => ({ y: $.vars.y }));
  const caught = start()
    .task("Reserve", reserve)
    .catch(["States.ALL"], (flow) => flow.pass("No", () => ({ orderId: "none" })));
  caught.pass("Use", ($) => ({ orderId: $.input.orderId }));
  // @ts-expect-error it is not there where it was caught
  caught.pass("Use", ($) => ({ reservation: $.input.reservation }));
  const passed = start().pass("P");
  // @ts-expect-error a Pass has nothing to catch
  passed.catch(["States.ALL"], () => passed);
});

test("branches and items are typed, and keep their variables to themselves", () => {
  const built = start()
    .pass("Note", undefined, { assign: ($) => ({ order: $.input.orderId }) })
    .parallel("Both", [
      (flow) => flow.task("One", reserve).end(),
      (flow) => flow.pass("Two", ($) => ({ two: $.vars.order }), { assign: () => ({ inner: 1 }) }).end(),
    ]);
  built.pass("Use", ($) => ({ reservation: $.input[0].reservation, second: $.input[1].two }));
  // @ts-expect-error there are two branches
  built.pass("Use", ($) => $.input[2]);
  // @ts-expect-error it was assigned in the branch
  built.pass("Inner", ($) => ({ x: $.vars.inner }));
  const lines = start().map(
    "Each",
    ($) => $.input.lines,
    (flow) => flow.pass("Line", ($) => ({ sku: $.input.sku })).end(),
  );
  expectTypeOf(lines.end()).toExtend<Machine<Order, readonly { readonly sku: string }[]>>();
  start().map(
    "Each",
    // @ts-expect-error an order is no list
    ($) => $.input,
    (flow) => flow.end(),
  );
  start().map(
    "Each",
    ($) => $.input.lines,
    // @ts-expect-error an item has no price
    (flow) => flow.pass("Line", ($) => ({ price: $.input.price })).end(),
  );
});

test("an item is given on as it is, selected, or in batches", () => {
  const selected = start().map(
    "Each",
    { items: ($) => $.input.lines, select: ($) => ({ sku: $.item.sku, at: $.index, of: $.input.orderId }) },
    (flow) => flow.pass("Line", ($) => ({ text: $.input.of, at: $.input.at })).end(),
  );
  expectTypeOf(selected.end()).toExtend<
    Machine<Order, readonly { readonly text: string; readonly at: number }[]>
  >();
  start().map(
    "Each",
    { items: ($) => $.input.lines, select: ($) => ({ sku: $.item.sku }) },
    // @ts-expect-error the count was not selected
    (flow) => flow.pass("Line", ($) => ({ count: $.input.count })).end(),
  );
  start().distributedMap(
    "Batches",
    {
      items: ($) => $.input.lines,
      batch: { items: 10, input: ($) => ({ order: $.input.orderId }) },
    },
    (flow) =>
      flow
        .pass("Batch", ($) => ({ first: orElse(item($.input.Items, 0), { sku: "none", count: 0 }) }))
        .pass("Use", ($) => ({ sku: $.input.first.sku }))
        .end(),
  );
  start().distributedMap(
    "Batches",
    { items: ($) => $.input.lines, batch: { bytes: 1000 } },
    // @ts-expect-error nothing is given beside the items
    (flow) => flow.pass("Batch", ($) => ({ order: $.input.BatchInput.order })).end(),
  );
  start().distributedMap(
    "Batches",
    { items: ($) => $.input.lines, select: ($) => ({ id: $.item.sku }), batch: { bytes: 1000 } },
    (flow) => flow.pass("Batch", ($) => ({ ids: jsonata<string[]>`${$.input.Items}.id` })).end(),
  );
});

test("a run says what its results are: outputs, descriptions of those that failed, or where they were written", () => {
  const each = (flow: any) => flow.end() as Machine<{ sku: string }, { readonly done: string }>;
  const lines = { items: ($: any) => $.input.lines } as const;
  const plain = start().distributedMap("Rows", lines, each);
  expectTypeOf(plain.end()).toExtend<Machine<Order, readonly { readonly done: string }[]>>();
  const tolerant = start().distributedMap("Rows", { ...lines, tolerate: "5%" }, each);
  expectTypeOf(tolerant.end()).toExtend<
    Machine<Order, readonly ({ readonly done: string } | FailedChild)[]>
  >();
  expectTypeOf(tolerant.end()).not.toExtend<Machine<Order, readonly { readonly done: string }[]>>();
  start()
    .distributedMap("Rows", { ...lines, results: { bucket: "out", transformation: "COMPACT" } }, each)
    .pass("Manifest", ($) => ({ key: $.input.ResultWriterDetails.Key }));
  start()
    .distributedMap("Rows", { ...lines, results: { bucket: "out" } }, each)
    // @ts-expect-error the results are elsewhere
    .pass("First", ($) => $.input[0]);
  const lists = (flow: any) => flow.end() as Machine<{ sku: string }, readonly number[]>;
  const flat = start().distributedMap("Rows", { ...lines, results: "flattened" }, lists);
  expectTypeOf(flat.end()).toExtend<Machine<Order, readonly number[]>>();
  // @ts-expect-error that is no share
  start().distributedMap("Rows", { ...lines, tolerate: "5" }, each);
  start().distributedMap(
    "Rows",
    { ...lines, tolerate: { count: jsonata<number>`$count($states.input.lines)`, percentage: 5 } },
    each,
  );
});

test("items in S3 have the type that is said, or that a listing has", () => {
  const rows = s3Items<{ id: string }>({ type: "JSONL", bucket: "in", key: "rows", itemsMax: 5 });
  start().distributedMap("Rows", rows, (flow) => flow.pass("Row", ($) => ({ id: $.input.id })).end());
  const objects = s3Objects({ bucket: "in", prefix: jsonata<string>`$states.input.prefix` });
  start().distributedMap("Files", { items: objects, batch: { items: 2 } }, (flow) =>
    flow.pass("Files", ($) => ({ size: jsonata<number>`$sum(${$.input.Items}.Size)` })).end(),
  );
  const inventory = s3Inventory({ bucket: "in", key: "manifest.json" });
  start().distributedMap("Listed", inventory, (flow) =>
    flow.pass("One", ($) => ({ key: $.input.Key })).end(),
  );
});

test("times, roles and limits may be expressions of what fits", () => {
  const options = {
    timeout: ($: { input: any }) => jsonata<number>`${$.input.seconds}`,
    role: "arn:aws:iam::000000000000:role/other",
  };
  start().task("Reserve", reserve, options);
  // @ts-expect-error a timeout is a number of seconds
  start().task("Reserve", reserve, { timeout: ($) => $.input.orderId });
  // @ts-expect-error a role is an ARN
  start().task("Reserve", reserve, { role: () => jsonata<number>`1` });
  start().map(
    "Each",
    ($) => $.input.lines,
    (flow) => flow.end(),
    { concurrency: ($) => jsonata<number>`$count(${$.input.lines})` },
  );
});

test("ways of a choice and of an error are given what is said of them", () => {
  const chosen = start()
    .choice("Which")
    .when(
      ($) => eq($.input.orderId, "o1"),
      { output: ($) => ({ id: $.input.orderId }), assign: () => ({ first: true }) },
      (flow) => flow.pass("A", ($) => ({ id: $.input.id, first: $.vars.first })),
    )
    .otherwise((flow) => flow.pass("B", ($) => ({ id: $.input.orderId, first: false })));
  chosen.pass("Use", ($) => ({ id: $.input.id }));
  start()
    .task("Reserve", reserve)
    .catch(
      ["States.ALL"],
      { output: ($) => ({ why: $.error.Cause }), assign: ($) => ({ failed: $.error.Error }) },
      (flow) => flow.pass("No", ($) => ({ why: $.input.why, failed: $.vars.failed })),
    );
  start()
    .task("Reserve", reserve)
    .catch(
      ["States.ALL"],
      { output: ($) => ({ why: $.error.Cause }) },
      // @ts-expect-error what was caught is not there as such
      (flow) => flow.pass("No", ($) => ({ why: $.input.Cause })),
    );
});

test("a state in the language's own words gives what is said, and nothing by itself", () => {
  const definition = { Type: "Pass", QueryLanguage: "JSONPath", Parameters: { "id.$": "$.orderId" } };
  start()
    .state("Old", definition, { gives: shape<{ id: string }>() })
    .pass("Use", ($) => ({ id: $.input.id }));
  const untold = start().state("Old", definition);
  // @ts-expect-error nobody has said what it gives
  untold.pass("Use", ($) => ({ id: $.input.id }));
});

test("answers from elsewhere have the shape that is said", () => {
  start()
    .call("Send", { resource: "arn:aws:states:::sqs:sendMessage", returns: shape<{ MessageId: string }>() })
    .pass("Use", ($) => ({ id: $.input.MessageId }));
  start()
    .pass("Id", ($) => ({ orderId: $.input.orderId }))
    .callback("Ask", reserve, { returns: shape<{ ok: boolean }>() })
    .choice("Ok?")
    .when(
      ($) => eq($.input.ok, true),
      (flow) => flow.succeed("Yes"),
    )
    .otherwise((flow) => flow.fail("No", { error: "No" }));
});

test("a workflow is started with what its machine takes", () => {
  const definition = machine<{ id: string }>().pass("P").end();
  const small = workflow("small", { definition });
  // @ts-expect-error an id is a text
  void (() => small.start({ id: 5 }));
  void (() => small.start({ id: "5" }));
});

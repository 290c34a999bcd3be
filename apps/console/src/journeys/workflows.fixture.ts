// The shop's workflow: an order is checked from three sides, picked item by item, charged with retries, and where it is
// dear a person looks at it. Its executions of the day succeed, fail, wait and are tried again.
import { setTimeout as sleep } from "node:timers/promises";
import { app, start, task, workflow, type Platform, type RunningApp } from "tuntas";
import { approval } from "tuntas/workflow";
import { z } from "zod";

const named = (message: string, name: string): Error => Object.assign(new Error(message), { name });

const retry = [{ ErrorEquals: ["CourierBusy"], IntervalSeconds: 1, MaxAttempts: 3, BackoffRate: 1 }];
const check = (name: string) => ({
  StartAt: name,
  States: { [name]: { Type: "Task", Resource: name, ResultPath: null, End: true } },
});

const definition = {
  Comment: "Fulfils an order. The workflow carries ids; what is true of the order stands in the database.",
  StartAt: "CheckOrder",
  States: {
    CheckOrder: {
      Type: "Parallel",
      Branches: ["CheckStock", "CheckAddress", "CheckCredit"].map(check),
      ResultPath: null,
      Next: "IsItDear",
    },
    IsItDear: {
      Type: "Choice",
      Choices: [{ Variable: "$.total", NumericGreaterThan: 1000, Next: "AskForApproval" }],
      Default: "PickItems",
    },
    AskForApproval: {
      Type: "Task",
      Resource: "arn:aws:states:::lambda:invoke.waitForTaskToken",
      Parameters: { FunctionName: "AskForApproval", Payload: { "orderId.$": "$.orderId" } },
      TimeoutSeconds: 86_400,
      ResultPath: "$.decision",
      Catch: [{ ErrorEquals: ["States.Timeout", "Rejected"], ResultPath: "$.error", Next: "CancelOrder" }],
      Next: "PickItems",
    },
    PickItems: {
      Type: "Map",
      ItemsPath: "$.items",
      MaxConcurrency: 4,
      ItemProcessor: {
        StartAt: "Pick",
        States: {
          Pick: { Type: "Task", Resource: "Pick", ResultPath: null, Next: "Pack" },
          Pack: { Type: "Pass", End: true },
        },
      },
      ResultPath: null,
      Next: "BookCourier",
    },
    BookCourier: {
      Type: "Task",
      Resource: "BookCourier",
      Retry: retry,
      Catch: [{ ErrorEquals: ["AddressUnknown"], ResultPath: "$.error", Next: "CancelOrder" }],
      ResultPath: null,
      Next: "WaitForPickup",
    },
    WaitForPickup: { Type: "Wait", SecondsPath: "$.pickupSeconds", Next: "Shipped" },
    Shipped: { Type: "Succeed" },
    CancelOrder: { Type: "Task", Resource: "CancelOrder", ResultPath: null, Next: "Cancelled" },
    Cancelled: {
      Type: "Fail",
      Error: "OrderCancelled",
      Cause: "The order was given up and its stock given back.",
    },
  },
};

const order = z.object({ orderId: z.string() }).loose();
const done = task({ input: order, idempotent: true, handle: () => sleep(20) });

const bookCourier = task({
  input: order.extend({ courier: z.string() }),
  idempotent: true,
  handle({ courier }, { attempt }) {
    if (courier === "lost") throw named("the courier does not know this address", "AddressUnknown");
    if (courier === "broken") throw named("the courier's API answered 500", "CourierBroken");
    if (courier === "busy" && attempt < 3) throw named("the courier has no van free", "CourierBusy");
    return sleep(30);
  },
});

/** What the shop itself knows of an order. */
const orderTable = (schema: string) => `${schema}.shop_order`;

const fulfilmentIn = (schema: string) =>
  workflow("OrderFulfilment", {
    definition,
    domain: {
      key: ({ orderId }) => orderId,
      async read(sql, key) {
        const { rows } = await sql.query(`select status, courier from ${orderTable(schema)} where id = $1`, [
          key,
        ]);
        return rows[0] as { status: string } | undefined;
      },
      statuses: { BookCourier: ["picked"] },
      final: ["cancelled", "shipped"],
    },
    tasks: {
      CheckStock: task({
        input: order.extend({ courier: z.string() }),
        idempotent: true,
        handle({ orderId, courier }, context) {
          context.write(`insert into ${orderTable(schema)} values ($1, 'checked', $2)`, [orderId, courier]);
        },
      }),
      CheckAddress: done,
      CheckCredit: done,
      Pick: task({
        input: order,
        idempotent: true,
        handle: ({ orderId }, context) =>
          context.write(`update ${orderTable(schema)} set status = 'picked' where id = $1`, [orderId]),
      }),
      CancelOrder: task({
        input: order,
        idempotent: true,
        handle: ({ orderId }, context) =>
          context.write(`update ${orderTable(schema)} set status = 'cancelled' where id = $1`, [orderId]),
      }),
      BookCourier: bookCourier,
      AskForApproval: approval({
        input: order,
        request: ({ orderId }: { orderId: string }) => ({
          subject: `order ${orderId}`,
          requestedBy: "the shop",
          deciders: { groups: ["order-desk"] },
          evidence: { orderId, total: 4800 },
          due: "4h" as const,
          expires: "1d" as const,
        }),
      }),
    },
  });

const runs: readonly (readonly [name: string, input: object])[] = [
  ...Array.from({ length: 8 }, (_, index) => [`ord-20${10 + index}`, {}] as const),
  ["ord-2031", { courier: "busy" }],
  ["ord-2032", { courier: "lost" }],
  ["ord-2033", { courier: "broken" }],
  ["ord-2034", { total: 4800 }],
  ["ord-2035", { pickupSeconds: 5400 }],
];

const inputOf = (orderId: string, more: object) => ({
  orderId,
  total: 120,
  courier: "prompt",
  pickupSeconds: 0,
  items: ["lamp", "chair", "table"].map((sku) => ({ orderId, sku })),
  ...more,
});

/** Runs them until each has ended, or waits for hours. */
export async function fulfil(platform: Platform): Promise<RunningApp> {
  const { schema } = platform.database;
  await platform.database.transaction(({ client }) =>
    client.query(
      `create table ${orderTable(schema)} (id text primary key, status text not null, courier text not null)`,
    ),
  );
  const fulfilment = fulfilmentIn(schema);
  const running = await start(app({ fulfilment }), { platform, drain: "100ms" });
  const started = await Promise.all(
    runs.map(([name, more]) => fulfilment.start(inputOf(name, more), { name: `fulfil-${name}` })),
  );
  const isSettled = async ({ arn }: { arn: string }): Promise<boolean> => {
    const execution = await platform.workflows.executions.find(arn);
    if (execution!.status !== "RUNNING") return true;
    const positions = await platform.workflows.observer.positions(execution!);
    return positions.some(({ state }) => state === "WaitForPickup" || state === "AskForApproval");
  };
  for (const one of started) while (!(await isSettled(one))) await sleep(50);
  return running;
}

// The recipes for AWS run as they stand: that for Amazon SQS with the built packages, by the AWS SDK, against the gateway on
// another database; that for deploying as far as its template.
import { App, Stack } from "aws-cdk-lib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPlatform } from "tuntas";
import { startGateway } from "tuntas/gateway";
import { testPlatform, type TestPlatform } from "tuntas/testing";
import { TuntasApp } from "@tuntas/aws/cdk";
import { openCloud } from "../../aws/src/cdk/cloud.fixture.ts";
import { openKitchen, type Kitchen } from "./kitchen.fixture.ts";

const server = process.env.DATABASE_URL!;
let kitchen: Kitchen;
let cloud: TestPlatform;
let gateway: Awaited<ReturnType<typeof startGateway>>;

beforeAll(async () => {
  cloud = await testPlatform();
  gateway = await startGateway({ platform: cloud.platform, port: 0 });
  kitchen = await openKitchen("aws");
  process.env.DATABASE_URL = kitchen.url;
  await (await openPlatform({ databaseUrl: kitchen.url })).close();
  await kitchen.client.query("create table shipment (order_id text primary key)");
  Object.assign(process.env, {
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "any",
    AWS_SECRET_ACCESS_KEY: "any",
    AWS_ENDPOINT_URL_SQS: `http://127.0.0.1:${gateway.port}`,
  });
}, 120_000);

afterAll(async () => {
  process.env.DATABASE_URL = server;
  await kitchen.close();
  await gateway.close();
  await cloud[Symbol.asyncDispose]();
});

test("docs/recipes/aws-sqs.md: refused while there is no queue; made where asked, an order is shipped once", async () => {
  const recipe = await kitchen.recipe("aws-sqs");
  await expect(recipe.startOnSqs()).rejects.toMatchObject({ code: "TUNTAS_QUEUE_MISSING" });
  const running = await recipe.startAndCreate();
  try {
    await Promise.all([1, 2].map(() => recipe.orderWork.send({ orderId: "ord_1" })));
    const shipped = async () => (await kitchen.client.query("select order_id from shipment")).rows;
    await expect.poll(shipped).toEqual([{ order_id: "ord_1" }]);
    const queue = await cloud.platform.queues.catalog.get(
      { account: "000000000000", region: "us-east-1" },
      "order-work",
    );
    await expect
      .poll(() => cloud.platform.queues.catalog.count(queue))
      .toEqual({ ready: 0, inFlight: 0, delayed: 0 });
  } finally {
    await running.stop();
  }
}, 120_000);

test("docs/recipes/aws-workflows.md: an order and its start are one commit, and the machine's task is done once by the handler", async () => {
  const recipe = await kitchen.recipe("aws-workflows");
  const cdk = new App({
    analyticsReporting: false,
    builtinCloudFormationValidation: false,
    outdir: kitchen.folder,
  });
  const stack = new Stack(cdk, "Shop");
  const workflows = { Checkout: { owner: "shop-team", runbook: "runbooks/checkout.md" } };
  const made = new TuntasApp(stack, "App", { app: recipe.shop, workflows });
  expect([...made.workflows.keys()]).toEqual(["Checkout"]);
  const { template } = cdk.synth().getStackByName("Shop");
  const { AWS_ENDPOINT_URL_SQS } = process.env;
  delete process.env.AWS_ENDPOINT_URL_SQS;
  await using there = await openCloud();
  await there.deploy(template as never);
  await kitchen.client.query(
    "create table purchase (id text); create table charge (order_id text, key text)",
  );
  const running = await recipe.startOnAws();
  try {
    const { arn } = await recipe.placeOrder(running.platform, "ord_7");
    const find = () => running.platform.workflows.executions.find(arn);
    await expect.poll(async () => (await find())?.output).toBe('{"charged":"ord_7"}');
    const { rows } = await kitchen.client.query("select order_id, key from charge");
    expect(rows).toEqual([{ order_id: "ord_7", key: expect.stringContaining(`${arn}/Charge#`) }]);
  } finally {
    await running.stop();
    process.env.AWS_ENDPOINT_URL_SQS = AWS_ENDPOINT_URL_SQS;
    delete process.env.AWS_ENDPOINT_URL;
  }
}, 120_000);

test("docs/recipes/aws-deploy.md: its stack has what the page says, and the worker's role may not send", async () => {
  const recipe = await kitchen.recipe("aws-deploy");
  const cdk = new App({
    analyticsReporting: false,
    builtinCloudFormationValidation: false,
    outdir: kitchen.folder,
  });
  recipe.deploy(cdk, `sha256:${"0".repeat(64)}`);
  const { Resources } = cdk.synth().getStackByName("Billing").template;
  const of = (type: string) =>
    Object.values<Record<string, any>>(Resources).filter(({ Type }) => Type === `AWS::${type}`);
  expect(of("SQS::Queue").map(({ Properties }) => Properties.QueueName)).toEqual([
    "invoices-dlq",
    "invoices",
    "nightly-undelivered",
  ]);
  expect(of("ECS::TaskDefinition")).toMatchObject([{ Properties: { Cpu: "512", Memory: "1024" } }]);
  expect(of("ElasticLoadBalancingV2::LoadBalancer")).toEqual([]);
  const [schedule] = of("Scheduler::Schedule");
  expect(schedule!.Properties.Target.RetryPolicy.MaximumEventAgeInSeconds).toBe(7200);
  const working = of("IAM::Policy").find(({ Properties }) => Properties.PolicyName.includes("TaskRole"));
  expect(JSON.stringify(working)).toContain("sqs:ReceiveMessage");
  expect(JSON.stringify(working)).not.toContain("sqs:SendMessage");
}, 120_000);

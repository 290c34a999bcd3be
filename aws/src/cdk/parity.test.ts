// The templates of the examples, deployed to what speaks AWS's protocols, and the examples run on what came of it.
import {
  DescribeExecutionCommand,
  ListExecutionsCommand,
  SendTaskSuccessCommand,
  StartExecutionCommand,
} from "@aws-sdk/client-sfn";
import { DeleteMessageCommand, ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { app, schedule, start, workflow } from "tuntas";
import { testPlatform, type TestPlatform } from "tuntas/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { caseActivation } from "../../../examples/case-activation/src/cases.ts";
import orders, { orderWork } from "../../../examples/orders/src/orders.ts";
import { findOrder } from "../../../examples/orders/src/store.ts";
import { sqs, stepFunctions } from "../index.ts";
import { taskQueueNameOf, type TaskMessage } from "tuntas/workflow/remote";
import { openCloud, type Cloud } from "./cloud.fixture.ts";
import { casesProps, ordersProps, synthesise, templateOf } from "./stacks.fixture.ts";

let cloud: Cloud;
let kit: TestPlatform;

beforeAll(async () => {
  [cloud, kit] = [await openCloud(), await testPlatform()];
  for (const template of synthesise({ Orders: ordersProps, Cases: casesProps })) await cloud.deploy(template);
}, 240_000);

afterAll(async () => {
  await kit[Symbol.asyncDispose]();
  await cloud[Symbol.asyncDispose]();
});

test("D-32: the orders application finds its deployed queue as it declares it, and an order is completed on it", async () => {
  await using running = await start(orders, { platform: kit.platform, queues: sqs() });
  const { database } = running.platform;
  await orderWork.send({ orderId: "ord_1", customerId: "c1", correlationId: "k" });
  await expect.poll(async () => (await findOrder(database, "ord_1"))?.status).toBe("COMPLETED");
});

/** Takes the next message of a machine's task queue, as a worker does. */
async function nextTask(workflow: string): Promise<TaskMessage> {
  const QueueUrl = `${cloud.url}/000000000000/${taskQueueNameOf(workflow)}`;
  for (;;) {
    const { Messages = [] } = await cloud.sqs.send(
      new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 5 }),
    );
    const [message] = Messages;
    if (!message) continue;
    await cloud.sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message.ReceiptHandle }));
    return JSON.parse(message.Body!) as TaskMessage;
  }
}

const machineArn = (name: string): string => `arn:aws:states:us-east-1:000000000000:stateMachine:${name}`;

test("a machine hands each of its tasks over with token, input and whose it is, and goes on by the answer", async () => {
  const started = await cloud.machines.send(
    new StartExecutionCommand({
      stateMachineArn: machineArn(caseActivation.name),
      name: "case-1",
      input: JSON.stringify({ caseId: "CASE-1" }),
    }),
  );
  for (const state of ["CreateCase", "ReserveCaseNumber", "ValidateJurisdiction"]) {
    const task = await nextTask(caseActivation.name);
    expect(task).toMatchObject({
      task: state,
      state,
      invoke: true,
      waits: false,
      retries: 0,
      execution: started.executionArn,
      executionName: "case-1",
      input: { FunctionName: state, Payload: { caseId: "CASE-1" } },
    });
    expect(Date.parse(task.enteredAt)).toBeGreaterThanOrEqual(Date.parse(task.startedAt));
    const output = JSON.stringify({ Payload: { status: "VALID" }, StatusCode: 200 });
    await cloud.machines.send(new SendTaskSuccessCommand({ taskToken: task.token, output }));
  }
}, 120_000);

const counting = workflow("Counting", {
  definition: {
    QueryLanguage: "JSONata",
    StartAt: "Each",
    States: {
      Each: {
        Type: "Map",
        Items: [1, 2],
        ItemProcessor: {
          StartAt: "Count",
          States: {
            Count: {
              Type: "Task",
              Resource: "arn:aws:states:::lambda:invoke",
              Arguments: { FunctionName: "Count", Payload: "{% $states.input %}" },
              Output: "{% $states.result.Payload %}",
              End: true,
            },
          },
        },
        Output: "{% $sum($states.result) %}",
        End: true,
      },
    },
  },
  tasks: { Count: (item: number) => 10 * item },
});

const responsible = { owner: "team", runbook: "runbooks/counting.md" };

/** In Jakarta, within the hour after now: its one occurrence in that time. */
const soon = new Date(Date.now() + 8 * 3_600_000);

const nightly = schedule("nightly", {
  when: `cron(${soon.getUTCMinutes()} ${soon.getUTCHours()} * * ? *)`,
  timeZone: "Asia/Jakarta",
  overlap: "allow",
  catchUp: { all: "2h" },
  target: counting,
  input: { of: "everything" },
  succeedsWithin: "1h",
  ...responsible,
});

test("a schedule starts a machine in JSONata, with its input and the instant; the application's handlers do its items' tasks", async () => {
  await cloud.deploy(templateOf({ counting, nightly }, { workflows: { Counting: responsible } }));
  const places = { queues: sqs(), workflows: stepFunctions(), schedules: [] };
  await using _running = await start(app({ counting, nightly }), { platform: kit.platform, ...places });
  await cloud.kit.advance(3_600_000);
  const started = () =>
    cloud.machines.send(new ListExecutionsCommand({ stateMachineArn: machineArn("Counting") }));
  await expect.poll(async () => (await started()).executions).toHaveLength(1);
  const { executions = [] } = await started();
  const [{ executionArn } = {}] = executions;
  const described = () => cloud.machines.send(new DescribeExecutionCommand({ executionArn }));
  await expect.poll(async () => (await described()).status).toBe("SUCCEEDED");
  const { input, output } = await described();
  expect(output).toBe("30");
  expect(JSON.parse(input!)).toEqual({
    of: "everything",
    schedule: "nightly",
    scheduledAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]+Z$/),
  });
}, 120_000);

// The ways in which a state can have work done: it goes on at once, it waits for the end, or for an answer; and it can ask
// again until there is one.
import { afterEach, beforeEach, expect, test } from "vitest";
import { app, start, type RunningApp } from "../app.ts";
import type { JsonObject } from "../asl/contract.ts";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import { task, workflow } from "./declaration.ts";

let kit: TestPlatform;
let running: RunningApp | undefined;
beforeEach(async () => {
  kit = await testPlatform();
});
afterEach(async () => {
  await running?.stop();
  running = undefined;
  await kit[Symbol.asyncDispose]();
});

const find = async (arn: string) => (await kit.platform.workflows.executions.find(arn))!;
const hasEnded = (arn: string) => expect.poll(async () => (await find(arn)).status).toBe("SUCCEEDED");
const { parse } = JSON;
const outputOf = async (arn: string) => parse((await find(arn)).output!);

/** The same job, an execution that rests for a minute, asked for in one way. */
const asking = (name: string, resource: string, input: JsonObject = {}) =>
  workflow(name, {
    definition: {
      StartAt: "Ask",
      States: {
        Ask: {
          Type: "Task",
          Resource: `arn:aws:states:::states:startExecution${resource}`,
          Parameters: {
            StateMachineArn: "arn:aws:states:us-east-1:000000000000:stateMachine:Job",
            Input: input,
          },
          End: true,
        },
      },
    },
  });

test("P-08 P-09 a job is begun, waited for, or answers by itself: three timings, three outputs", async () => {
  const tokens: string[] = [];
  const job = workflow("Job", {
    definition: {
      StartAt: "Rest",
      States: {
        Rest: { Type: "Wait", Seconds: 60, Next: "Work" },
        Work: { Type: "Task", Resource: "work", End: true },
      },
    },
    tasks: {
      work({ token }: { token?: string }) {
        if (token !== undefined) tokens.push(token);
        return { done: true };
      },
    },
  });
  const plain = asking("Plain", "");
  const sync = asking("Sync", ".sync:2");
  const callback = asking("Callback", ".waitForTaskToken", { "token.$": "$$.Task.Token" });
  running = await start(app({ job, plain, sync, callback }), { platform: kit.platform });
  const begun = await Promise.all([plain, sync, callback].map((each) => each.start({})));
  const [first, second, third] = begun.map(({ arn }) => arn) as [string, string, string];

  await hasEnded(first);
  expect(await outputOf(first)).toMatchObject({ ExecutionArn: expect.stringContaining(":execution:Job:") });
  expect([(await find(second)).status, (await find(third)).status]).toEqual(["RUNNING", "RUNNING"]);
  const jobs = async () => {
    const machine = await kit.platform.workflows.machines.find(
      { account: "000000000000", region: "us-east-1" },
      "Job",
    );
    return kit.platform.workflows.executions.list(machine!, {}, { limit: 10, offset: 0 });
  };
  await expect.poll(jobs).toHaveLength(3);
  await kit.advance(61_000);
  await hasEnded(second);
  expect(await outputOf(second)).toMatchObject({ Status: "SUCCEEDED", Output: { done: true } });
  await expect.poll(() => tokens).toHaveLength(1);
  expect((await find(third)).status).toBe("RUNNING");
  await kit.platform.workflows.activities.succeed(tokens[0]!, { said: "by itself" });
  await hasEnded(third);
  expect(await outputOf(third)).toEqual({ said: "by itself" });
});

test("P-30 a loop asks every half a minute until there is an answer, and ends", async () => {
  let asked = 0;
  const polling = workflow("Polling", {
    definition: {
      StartAt: "Look",
      States: {
        Look: { Type: "Task", Resource: "look", Next: "Decide" },
        Decide: {
          Type: "Choice",
          Choices: [{ Variable: "$.status", StringEquals: "READY", Next: "Done" }],
          Default: "Wait",
        },
        Wait: { Type: "Wait", Seconds: 30, Next: "Look" },
        Done: { Type: "Succeed" },
      },
    },
    tasks: {
      look: task({ idempotent: true, handle: () => ({ status: ++asked < 4 ? "PENDING" : "READY" }) }),
    },
  });
  running = await start(app({ polling }), { platform: kit.platform });
  const { arn } = await polling.start({});
  const waits = async () => {
    const history = await kit.platform.workflows.executions.history(await find(arn));
    return history.filter(({ type }) => type === "WaitStateEntered");
  };
  for (let round = 1; round <= 3; round++) {
    await expect.poll(waits).toHaveLength(round);
    await kit.advance(31_000);
  }
  await hasEnded(arn);
  expect(asked).toBe(4);
});

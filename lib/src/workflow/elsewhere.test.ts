// Several processes on one execution: whoever carries out the next step sees what another one decided.
import { afterEach, beforeEach, expect, test } from "vitest";
import { app, start } from "../app.ts";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import { workflow } from "./declaration.ts";

let kit: TestPlatform;
beforeEach(async () => void (kit = await testPlatform()));
afterEach(() => kit[Symbol.asyncDispose]());

test("P-01 a step after an answer that another process took is carried out here, though this one holds an older state", async () => {
  let reference: string | undefined;
  const asking = workflow("asking", {
    definition: {
      StartAt: "Ask",
      States: {
        Ask: {
          Type: "Task",
          Resource: "arn:aws:states:::lambda:invoke.waitForTaskToken",
          Parameters: { FunctionName: "ask" },
          Next: "Go",
        },
        Go: { Type: "Task", Resource: "go", End: true },
      },
    },
    tasks: { ask: (_input, ctx) => void (reference = ctx.tokenReference), go: () => "done" },
  });
  await using _running = await start(app({ asking }), { platform: kit.platform });
  const { arn } = await asking.start({});
  await expect.poll(() => reference).toBeDefined();
  const elsewhere = await kit.another();
  const { activities, tokenOf } = elsewhere.workflows;
  await expect.poll(async () => (await activities.succeed(tokenOf(reference!), {})).status).toBe("accepted");
  const output = async () => (await kit.platform.workflows.executions.find(arn))!.output;
  await expect.poll(output).toBe('"done"');
});

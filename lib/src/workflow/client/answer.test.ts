// Answers that are announced with the change that they tell of: the task waits for them, or they are refused.
import { afterEach, beforeEach, expect, test } from "vitest";
import { app, start, type RunningApp } from "../../app.ts";
import { statement } from "../../pg/database.ts";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import { workflow } from "../declaration.ts";
import { answerTask } from "./answer.ts";

let kit: TestPlatform;
let running: RunningApp;
let arn: string;
let tokenReference: string;

const asking = workflow("asking", {
  definition: {
    StartAt: "Ask",
    States: {
      Ask: {
        Type: "Task",
        Resource: "arn:aws:states:::lambda:invoke.waitForTaskToken",
        Parameters: { FunctionName: "ask", Payload: { text: 'a "token":"decoy" in the input' } },
        TimeoutSeconds: 600,
        HeartbeatSeconds: 120,
        End: true,
      },
    },
  },
  tasks: {
    ask: (_input, ctx) => {
      tokenReference = ctx.tokenReference!;
    },
  },
});

beforeEach(async () => {
  kit = await testPlatform();
  running = await start(app({ asking }), { platform: kit.platform });
  ({ arn } = await asking.start({}));
  const waiting = statement(
    "select from tuntas.workflow_call where token_hash is not null and owner_id is null",
  );
  await expect.poll(() => kit.platform.database.run(waiting)).toHaveLength(1);
});
afterEach(async () => {
  await running.stop();
  await kit[Symbol.asyncDispose]();
});

const find = async () => (await kit.platform.workflows.executions.find(arn))!;
const { parse } = JSON;
const answer = (output: unknown) =>
  kit.platform.database.transaction((tx) => answerTask(tx, { tokenReference, output }));

test("P-33 an answer takes its task off the clock until the execution has it", async () => {
  await kit.platform.database.transaction(async (tx) => {
    await answerTask(tx, { tokenReference, output: { n: 1 } });
    await kit.advance(700_000);
  });
  await expect.poll(async () => (await find()).status).toBe("SUCCEEDED");
  expect(parse((await find()).output!)).toEqual({ n: 1 });
});

test("P-33 an answer that comes too late is refused, and its transaction may go on", async () => {
  await kit.advance(121_000);
  await expect.poll(async () => (await find()).status).toBe("FAILED");
  await expect(answer(1)).rejects.toMatchObject({ code: "TUNTAS_ANSWER_LATE" });
  const announced = await kit.platform.database.transaction(async (tx) => {
    await answerTask(tx, { tokenReference, output: 1 }).catch(() => undefined);
    return tx.run(statement("select from tuntas.outbox"));
  });
  expect(announced).toEqual([]);
});

test("an answer whose transaction is undone leaves the clock as it was", async () => {
  const undone = kit.platform.database.transaction(async (tx) => {
    await answerTask(tx, { tokenReference, output: 1 });
    throw new Error("no");
  });
  await expect(undone).rejects.toThrow("no");
  await kit.advance(121_000);
  await expect.poll(async () => (await find()).status).toBe("FAILED");
  expect(await find()).toMatchObject({ error: "States.Timeout" });
});

import { afterAll, beforeAll, expect, test } from "vitest";
import { app, start } from "../app.ts";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import { workflow } from "../workflow/declaration.ts";

let kit: TestPlatform;
beforeAll(async () => void (kit = await testPlatform()));
afterAll(() => kit[Symbol.asyncDispose]());

const ada = { actor: "ada", reason: "the post is back" };

test("failed executions are redriven by a filter, each after a look at it, and what may not be is refused with the reason", async () => {
  const { operations, workflows } = kit.platform;
  let mended = false;
  const rows = new Map<string, { status: string }>();
  const sending = workflow("sending", {
    definition: { StartAt: "Send", States: { Send: { Type: "Task", Resource: "send", End: true } } },
    tasks: {
      send: () => {
        if (!mended) throw new Error("no post");
        return {};
      },
    },
    domain: {
      key: ({ caseId }: { caseId: string }) => caseId,
      read: async (_, key) => rows.get(key),
      statuses: { Send: ["READY"] },
      final: ["CANCELLED"],
    },
  });
  await using _running = await start(app({ sending }), { platform: kit.platform });
  const arns: string[] = [];
  for (const caseId of ["C-1", "C-2", "C-3"]) {
    rows.set(caseId, { status: "READY" });
    arns.push((await sending.start({ caseId })).arn);
  }
  const statuses = () => Promise.all(arns.map(async (arn) => (await workflows.executions.find(arn))!.status));
  await expect.poll(statuses).toEqual(["FAILED", "FAILED", "FAILED"]);

  mended = true;
  rows.set("C-2", { status: "CANCELLED" });
  const machine = (await workflows.executions.find(arns[0]!))!.machineArn;
  expect(await operations.preview("redrive", { machine })).toMatchObject({ count: 3, sample: arns });
  const { operation } = await operations.start({
    kind: "redrive",
    selection: { machine },
    ...ada,
    expected: 3,
  });
  expect(await operations.settled(operation.id)).toMatchObject({ state: "completed", done: 2, refused: 1 });
  await expect.poll(statuses).toEqual(["SUCCEEDED", "FAILED", "SUCCEEDED"]);
  const items = await operations.items(operation.id, { outcome: "refused" });
  expect(items).toMatchObject([{ item: arns[1], reason: expect.stringContaining("CANCELLED") }]);
});

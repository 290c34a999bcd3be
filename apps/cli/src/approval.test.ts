// The commands for approvals and redrives, as the built command, beside a running application.
import { afterAll, beforeAll, expect, test } from "vitest";
import { app, makeLog, openPlatform, start, type Platform, type RunningApp } from "tuntas";
import { approval, workflow } from "tuntas/workflow";
import { household, type Household } from "./household.fixture.ts";

let home: Household;
let platform: Platform;
let running: RunningApp;
let isMended = false;

const asking = workflow("asking", {
  definition: {
    StartAt: "Ask",
    States: {
      Ask: {
        Type: "Task",
        Resource: "arn:aws:states:::lambda:invoke.waitForTaskToken",
        Parameters: { FunctionName: "ask" },
        Next: "Act",
      },
      Act: { Type: "Task", Resource: "act", End: true },
    },
  },
  tasks: {
    ask: approval({
      request: () => ({
        subject: "CASE-1",
        requestedBy: "ana",
        deciders: { roles: ["supervisor"] },
        escalation: { after: "3d", to: { roles: ["head"] } },
        signatures: 2,
        evidence: { amount: 12 },
        due: "2d",
        expires: "7d",
      }),
    }),
    act() {
      if (!isMended) throw new Error("not yet");
      return "done";
    },
  },
});

beforeAll(async () => {
  home = await household();
  platform = await openPlatform({ databaseUrl: home.url, log: makeLog() });
  running = await start(app({ asking }), { platform });
  await asking.start({}, { name: "one" });
});
afterAll(async () => {
  await running.stop();
  await platform.close();
  await home[Symbol.asyncDispose]();
});

const as = (name: string, ...more: string[]) => ["--actor", name, "--role", "supervisor", ...more];
const because = ["--reason", "read it"];

test("an approval is listed, shown, refused to the wrong, signed by two, and resumes its execution", async () => {
  await expect.poll(() => platform.workflows.approvals.list()).toHaveLength(1);
  const { document: rows } = await home.json(["approval", "list"]);
  expect(rows).toMatchObject([{ subject: "CASE-1", signaturesMissing: 2, evidence: { amount: 12 } }]);
  const id = rows[0].id as string;
  expect((await home.json(["approval", "list", "--mine", ...as("ben")])).document).toHaveLength(1);
  expect((await home.json(["approval", "list", "--mine", ...as("ana")])).document).toEqual([]);
  const shown = await home.run(["approval", "show", id, ...as("ben")]);
  expect(shown).toMatchObject({ status: 0 });
  expect(shown.stdout).toMatch(/may sign[^]*role supervisor[^]*"amount": 12/);

  expect(await home.json(["approval", "approve", id, ...as("ana"), ...because])).toMatchObject({
    status: 1,
    document: { error: { code: "TUNTAS_APPROVAL_OWN" } },
  });
  expect((await home.run(["approval", "approve", id, ...as("ben")])).status).toBe(2);
  expect((await home.run(["approval", "approve", id, ...as("ben"), ...because])).stdout).toContain(
    "needs 1 more",
  );
  await home.run(["approval", "delegate", id, "--to", "kim", ...as("eve"), ...because]);
  expect((await home.run(["approval", "approve", id, "--actor", "kim", ...because])).stdout).toContain(
    "is approved",
  );
  expect(await home.json(["approval", "reject", id, ...as("dan"), ...because])).toMatchObject({
    status: 1,
    document: { error: { code: "TUNTAS_APPROVAL_OVER" } },
  });
});

test("P-39 P-51 a failed execution shows its state, error, cause and history, is inspected, and redriven by the verdict that was seen, on the record", async () => {
  const status = async () => (await home.json(["workflow", "describe", "asking/one"])).document.status;
  await expect.poll(status, { interval: 500 }).toBe("FAILED");
  const described = await home.run(["workflow", "describe", "asking/one"]);
  expect(described.stdout).toMatch(/status\s+FAILED[^]*state\s+Act[^]*error\s+\w+[^]*cause\s+\S+/);
  const { document: history } = await home.json(["workflow", "history", "asking/one"]);
  expect(history.map(({ id }: { id: number }) => id)).toEqual(
    history.map((_: unknown, at: number) => at + 1),
  );
  expect(history.at(-1)).toMatchObject({ type: "ExecutionFailed" });
  const inspected = await home.json(["workflow", "inspect", "asking/one"]);
  expect(inspected.document).toMatchObject({
    halted: [{ state: "Act" }],
    approvals: [{ status: "approved" }],
    domain: { known: "not read here" },
    verdict: "reconcile first",
  });
  const redrive = ["workflow", "redrive", "asking/one", ...because, "--actor", "ada"];
  expect((await home.json(redrive)).document).toMatchObject({ error: { code: "TUNTAS_REDRIVE_CHANGED" } });
  const seen = ["--seen", "reconcile first"];
  expect((await home.json([...redrive, ...seen])).document).toMatchObject({
    error: { code: "TUNTAS_REDRIVE_FORBIDDEN" },
  });
  isMended = true;
  expect((await home.run([...redrive, ...seen, "--reconciled"])).stdout).toContain("on the record as");
  await expect.poll(status, { interval: 500 }).toBe("SUCCEEDED");
});

// Looking before a redrive: what the execution left behind, what it means, and that nobody redrives against it.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { app, start, type RunningApp } from "../../app.ts";
import { effect, provider, release, reserve, settleByHand } from "../../ledger/index.ts";
import { statement } from "../../pg/database.ts";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import { workflow, type Handle } from "../declaration.ts";
import type { DomainRow, Inspection } from "./contract.ts";

let kit: TestPlatform;
let running: RunningApp;
beforeEach(async () => {
  kit = await testPlatform();
});
afterEach(async () => {
  await running?.stop();
  await kit[Symbol.asyncDispose]();
});

const post = provider({ name: "post", timeout: "50ms", reconcile: { letter: "manual" } });
const redrives = () => kit.platform.workflows.redrives;
let row: DomainRow | undefined;

/** An execution whose step `send` does this and then fails, unless `mended`. */
async function failed(step: Handle): Promise<string> {
  row = { status: "NOTICE_GENERATED" };
  const sending = workflow("sending", {
    definition: { StartAt: "Send", States: { Send: { Type: "Task", Resource: "send", End: true } } },
    tasks: { send: step },
    domain: {
      key: ({ caseId }: { caseId: string }) => caseId,
      read: async () => row,
      statuses: { Send: ["NOTICE_GENERATED"] },
      final: ["CANCELLED"],
    },
  });
  running = await start(app({ sending, post }), { platform: kit.platform });
  const { arn } = await sending.start({ caseId: "C-1" });
  await expect.poll(async () => (await kit.platform.workflows.executions.find(arn))!.status).toBe("FAILED");
  return arn;
}

const fail = () => {
  throw new Error("no");
};
const messages = ({ findings }: Inspection, verdict: string): string[] =>
  findings.filter((each) => each.verdict === verdict).map(({ about }) => about);
const operator = { by: "ada", reason: "mended" };

describe("an inspection", () => {
  test("P-51 P-41 V-26 names the failed state, the domain row, and that a redrive is safe", async () => {
    const arn = await failed(fail);
    const found = await redrives().inspect(arn);
    expect(found).toMatchObject({
      verdict: "safe",
      execution: { arn, status: "FAILED", error: "Error", cause: expect.stringContaining('"no"') },
      halted: [{ state: "Send", attempts: 1 }],
      domain: { known: "read", key: "C-1", row: { status: "NOTICE_GENERATED" } },
    });
    await expect(redrives().inspect("arn:none")).rejects.toMatchObject({ code: "TUNTAS_EXECUTION_MISSING" });
  });

  test("P-40 finds a domain row that has moved on, is gone, or is final", async () => {
    const arn = await failed(fail);
    row = { status: "NOTICE_SENT" };
    expect(messages(await redrives().inspect(arn), "reconcile first")).toEqual(["domain"]);
    row = undefined;
    expect(messages(await redrives().inspect(arn), "reconcile first")).toEqual(["domain"]);
    row = { status: "CANCELLED" };
    expect((await redrives().inspect(arn)).verdict).toBe("forbidden");
    await expect(
      redrives().redrive(arn, { ...operator, seen: "forbidden", reconciled: true }),
    ).rejects.toMatchObject({ code: "TUNTAS_REDRIVE_FORBIDDEN" });
  });

  test("says so where the application does not run here", async () => {
    const arn = await failed(fail);
    const elsewhere = await kit.another();
    const found = await elsewhere.workflows.redrives.inspect(arn);
    expect(found).toMatchObject({ verdict: "reconcile first", domain: { known: "not read here" } });
  });

  test("P-42 a letter that arrived, that never left, and of which nobody knows: three verdicts", async () => {
    let answer: () => Promise<string> = async () => "POST-1";
    const arn = await failed(async (_input, ctx) => {
      await effect(
        ctx,
        { provider: post, operation: "letter", key: "n1", request: {}, reference: (r) => r },
        () => answer(),
      );
      throw new Error("after the call");
    });
    const arrived = await redrives().inspect(arn);
    expect(arrived).toMatchObject({
      verdict: "safe",
      effects: [{ state: "succeeded", reference: "POST-1" }],
    });
    await kit.platform.database.run(
      statement(
        "update tuntas.side_effect set state = 'unknown', completed_at = null, reference = null, response = null",
      ),
    );
    expect(await redrives().inspect(arn)).toMatchObject({
      verdict: "reconcile first",
      effects: [{ state: "unknown" }],
    });
    await expect(
      redrives().redrive(arn, { ...operator, seen: "reconcile first", reconciled: true }),
    ).rejects.toMatchObject({
      code: "TUNTAS_REDRIVE_FORBIDDEN",
      message: expect.stringContaining("effect settle"),
    });
    const [{ id }] = (await redrives().inspect(arn)).effects as unknown as [{ id: string }];
    await settleByHand(kit.platform.database, id, {
      finding: { state: "absent" },
      by: "ada",
      reason: "asked",
    });
    expect(await redrives().inspect(arn)).toMatchObject({
      verdict: "safe",
      effects: [{ state: "failed", final: false }],
    });
  });

  test("finds a reservation that is gone", async () => {
    const arn = await failed(async (_input, ctx) => {
      await kit.platform.database.transaction(async (tx) => {
        const made = await reserve(tx, {
          kind: "number",
          resource: "7",
          holder: ctx.execution.arn,
          expiresIn: "30m",
        });
        if (made.status !== "conflict") await release(tx, made.reservation.id);
      });
      throw new Error("no");
    });
    expect(messages(await redrives().inspect(arn), "reconcile first")).toEqual(["reservation"]);
  });
});

describe("a redrive", () => {
  test("P-41 is on record with who, why and the verdict, and the step runs again", async () => {
    let mended = false;
    const arn = await failed(() => (mended ? "sent" : fail()));
    mended = true;
    const report = await redrives().redrive(arn, { ...operator, seen: "safe" });
    await expect.poll(async () => (await kit.platform.workflows.executions.find(arn))!.output).toBe('"sent"');
    const [audit] = await kit.platform.database.run(
      statement("select actor, action, subject, reason, details from tuntas.audit where id = $1"),
      [report.auditId],
    );
    expect(audit).toMatchObject({ actor: "ada", action: "workflow.redrive", subject: arn, reason: "mended" });
    expect(JSON.parse(audit!.details)).toMatchObject({ verdict: "safe", reconciled: false });
  });

  test("of two who decide at once is on record for the one whose it was", async () => {
    let mended = false;
    const arn = await failed(() => (mended ? "sent" : fail()));
    mended = true;
    const askers = ["ada", "bob"];
    const asked = await Promise.allSettled(
      askers.map((by) => redrives().redrive(arn, { ...operator, by, seen: "safe" })),
    );
    const refused = asked.filter(({ status }) => status === "rejected");
    expect(refused).toEqual([
      expect.objectContaining({ reason: expect.objectContaining({ code: "TUNTAS_REDRIVE_CHANGED" }) }),
    ]);
    const rows = await kit.platform.database.run(
      statement("select actor from tuntas.audit where action = 'workflow.redrive' and subject = $1"),
      [arn],
    );
    expect(rows).toEqual([{ actor: askers[asked.findIndex(({ status }) => status === "fulfilled")] }]);
  });

  test("is refused where the facts are not those that the operator saw, or speak against it", async () => {
    const arn = await failed(fail);
    row = { status: "NOTICE_SENT" };
    await expect(redrives().redrive(arn, { ...operator, seen: "safe" })).rejects.toMatchObject({
      code: "TUNTAS_REDRIVE_CHANGED",
    });
    await expect(redrives().redrive(arn, { ...operator, seen: "reconcile first" })).rejects.toMatchObject({
      code: "TUNTAS_REDRIVE_FORBIDDEN",
    });
    expect((await kit.platform.workflows.executions.find(arn))!.redriveCount).toBe(0);
    await redrives().redrive(arn, { ...operator, seen: "reconcile first", reconciled: true });
    expect((await kit.platform.workflows.executions.find(arn))!.redriveCount).toBe(1);
  });

  test("of what runs or succeeded is forbidden", async () => {
    const arn = await failed(fail);
    await kit.platform.database.run(statement("update tuntas.execution set status = 'SUCCEEDED'"));
    expect((await redrives().inspect(arn)).verdict).toBe("forbidden");
  });
});

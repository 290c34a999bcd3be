// kill -9 at every point of a decision: it took place or it did not, and where it did the execution hears of it.
import { expect, test } from "vitest";
import { app, start } from "../../app.ts";
import { killAtEachStep } from "../../engine/stepwise.fixture.ts";
import { statement } from "../../pg/database.ts";
import { testPlatform } from "../../testing/index.ts";
import { workflow } from "../declaration.ts";
import { approval } from "./declaration.ts";

const definition = {
  StartAt: "Ask",
  States: {
    Ask: {
      Type: "Task",
      Resource: "arn:aws:states:::lambda:invoke.waitForTaskToken",
      Parameters: { FunctionName: "ask" },
      End: true,
    },
  },
} as never;

test("H-03 H-07 P-43 killed at every point of a decision, it is made once and its callback is sent again", async () => {
  await using kit = await testPlatform();
  const { platform, databaseUrl, schema } = kit;
  const query = (text: string, values: unknown[] = []) => platform.database.run(statement(text), values);
  await query("create table tuntas.effect (approval uuid not null)");
  const ask = approval({
    request: () => ({
      subject: "x",
      requestedBy: "ana",
      deciders: { roles: ["supervisor"] },
      due: "2d",
      expires: "7d",
    }),
    decided: async (tx, { approval: { id } }) =>
      void (await tx.query(`insert into ${schema}.effect (approval) values ($1)`, [id])),
  });
  const asking = workflow("asking", { definition, tasks: { ask } });
  await using running = await start(app({ asking }), { platform });
  const { executions, approvals } = running.platform.workflows;

  async function request() {
    const { arn } = await asking.start({});
    const pending = () => approvals.list({ executionArn: arn });
    await expect.poll(pending).toHaveLength(1);
    return { arn, id: (await pending())[0]!.id };
  }

  let asked = await request();
  const decided: Record<string, boolean> = {};
  const points = await killAtEachStep({
    script: new URL("kill.fixture.mjs", import.meta.url),
    args: () => [databaseUrl, schema, asked.id],
    async check(point) {
      const { arn, id } = asked;
      const wasDecided = (await approvals.show(id))!.status !== "pending";
      // The decision's commit is the first; those of its callback, where this process makes it, come after.
      decided[point] ??= wasDecided;
      const by = { name: "ben", roles: ["supervisor"] };
      if (!wasDecided) await approvals.decide(id, { by, decision: "approve", reason: "fine" });
      await expect.poll(async () => (await executions.find(arn))!.status).toBe("SUCCEEDED");
      await expect.poll(async () => (await approvals.show(id))!.toldAtMs).not.toBeNull();
      expect(await query("select from tuntas.effect where approval = $1", [id]), point).toHaveLength(1);
      asked = await request();
    },
  });
  expect(points).toEqual(
    expect.arrayContaining([
      "before insert into effect",
      "before insert into approval_signature",
      "before commit",
      "after the decision, before its callback",
    ]),
  );
  expect(decided).toMatchObject({ "before commit": false, "after the decision, before its callback": true });
}, 200_000);

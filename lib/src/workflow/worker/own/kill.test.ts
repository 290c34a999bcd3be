// kill -9 at every point of an execution whose steps write in each of the ways there are; another process goes on.
import { expect, test } from "vitest";
import { app, start } from "../../../app.ts";
import { killAtEachStep } from "../../../engine/stepwise.fixture.ts";
import { statement } from "../../../pg/database.ts";
import { testPlatform } from "../../../testing/index.ts";
import { workflow, type TaskContext } from "../../declaration.ts";

const names = ["transaction", "handover", "both", "result"];

function declare(schema: string) {
  const text = `insert into ${schema}.effect (execution, step) values ($1, $2)`;
  const own = async (ctx: TaskContext) =>
    void (await ctx.tx.query(text, [ctx.execution.name, ctx.stateName]));
  const handed = async (ctx: TaskContext) => ctx.write(text, [ctx.execution.name, ctx.stateName]);
  const works = { transaction: own, handover: handed, both: own, result: async () => undefined };
  const tasks = Object.fromEntries(
    Object.entries(works).map(([name, work]) => [
      name,
      async (input: object, ctx: TaskContext) => {
        await work(ctx);
        return { ...input, [name]: ctx.idempotencyKey };
      },
    ]),
  );
  const states = names.map((name, index) => {
    const next = names[index + 1];
    return [name, { Type: "Task", Resource: name, ...(next === undefined ? { End: true } : { Next: next }) }];
  });
  return workflow("killed", {
    definition: { StartAt: names[0]!, States: Object.fromEntries(states) },
    tasks,
  });
}

test("P-01 P-14 P-43 killed at every point, each step takes effect once and the execution ends", async () => {
  await using kit = await testPlatform();
  const { platform, databaseUrl, schema } = kit;
  const query = (text: string, values: unknown[] = []) => platform.database.run(statement(text), values);
  await query("create table tuntas.effect (execution text not null, step text not null)");
  const declared = declare(schema);
  await using running = await start(app({ declared }), { platform });
  const { executions } = running.platform.workflows;

  const points = await killAtEachStep({
    script: new URL("kill.fixture.mjs", import.meta.url),
    args: (step) => [databaseUrl, schema, `n${step}`],
    async check(point, step) {
      // Whoever asked for the start and got no answer asks again.
      const { arn, status } = await declared.start({}, { name: `n${step}` });
      expect(["created", "duplicate"], point).toContain(status);
      await expect.poll(async () => (await executions.find(arn))!.status).toBe("SUCCEEDED");
      const { output } = (await executions.find(arn))!;
      const effects = await query("select step from tuntas.effect where execution = $1", [`n${step}`]);
      expect(effects.map((row) => row.step).toSorted(), point).toEqual(["both", "handover", "transaction"]);
      expect(Object.keys(JSON.parse(output!)), point).toEqual(names);
      const left = await query("select count(*)::int as count from tuntas.workflow_call");
      expect(left, point).toEqual([{ count: 0 }]);
    },
  });
  for (const name of names) expect(points).toContain(`${name} ends`);
  expect(points).toEqual(
    expect.arrayContaining(["before insert into effect", "before update execution_state", "before commit"]),
  );
}, 280_000);

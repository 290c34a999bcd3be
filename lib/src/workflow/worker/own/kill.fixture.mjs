// One process that starts an execution of three steps, each writing its effect in its own way, killed at the point that it
// was told: a handler's begin or end, or a write to the database. Arguments: step, url, schema, name of the execution.
import pg from "pg";
import { stepping, watchWrites } from "../../../engine/stepwise.fixture.mjs";
import { app, start, workflow } from "../../../../dist/index.js";

// What it prints is the point at which it died, and nothing else.
process.env.TUNTAS_LOG_LEVEL = "silent";
const [step, databaseUrl, schema, name] = process.argv.slice(2);
const { at } = stepping(step);
watchWrites(pg.Client, at, ["effect", "execution", "execution_state"]);

const text = `insert into ${schema}.effect (execution, step) values ($1, $2)`;
const chain = (names) => ({
  StartAt: names[0],
  States: Object.fromEntries(
    names.map((each, index) => [
      each,
      { Type: "Task", Resource: each, ...(names[index + 1] ? { Next: names[index + 1] } : { End: true }) },
    ]),
  ),
});

const around = (work) => async (input, ctx) => {
  await at(`${ctx.stateName} begins`);
  await work(ctx);
  await at(`${ctx.stateName} ends`);
  return { ...input, [ctx.stateName]: ctx.idempotencyKey };
};

const tasks = {
  transaction: around((ctx) => ctx.tx.query(text, [ctx.execution.name, ctx.stateName])),
  handover: around(async (ctx) => ctx.write(text, [ctx.execution.name, ctx.stateName])),
  both: around(async (ctx) => {
    await ctx.tx.query("select 1");
    ctx.write(text, [ctx.execution.name, ctx.stateName]);
  }),
  result: around(async () => undefined),
};

const declared = workflow("killed", { definition: chain(Object.keys(tasks)), tasks });
const running = await start(app({ declared }), { databaseUrl, schema });
const { arn } = await declared.start({}, { name });
const { executions } = running.platform.workflows;
while ((await executions.find(arn)).status === "RUNNING")
  await new Promise((resolve) => setTimeout(resolve, 20));
await running.stop();

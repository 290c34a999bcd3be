// Tuntas's workflows for the peers' harness: a chain of `steps` Task states, each a handler of the application, with the
// public API in its default configuration. The first step tells the harness that the execution has begun.
import { app, start, workflow } from "../../lib/dist/index.js";

const quiet = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet };

const chainOf = (steps) => {
  const states = Array.from({ length: steps }, (_, index) => [
    `s${index}`,
    {
      Type: "Task",
      Resource: index === 0 ? "first" : "step",
      ...(index + 1 < steps ? { Next: `s${index + 1}` } : { End: true }),
    },
  ]);
  return { StartAt: "s0", States: Object.fromEntries(states) };
};

const insert = "insert into bench_effect (i) values ($1)";

/** What each step does besides returning its input; async, as the peers' steps are. */
const steps = {
  result: async (payload) => payload,
  tx: async (payload, { tx }) => {
    await tx.query(insert, [payload.i]);
    return payload;
  },
  write: async (payload, ctx) => {
    ctx.write(insert, [payload.i]);
    return payload;
  },
};

function appOf(ctx, count, onStart) {
  const step = steps[ctx.variant.handler];
  const first = async (payload, context) => {
    await onStart(payload);
    return step(payload, context);
  };
  const tasks = count > 1 ? { first, step } : { first };
  return app({ flow: workflow("bench", { definition: chainOf(count), tasks }) });
}

const options = (ctx) => ({ databaseUrl: ctx.url, log: quiet });

export default {
  name: "tuntas-workflow",
  needs: "pg",
  workflow: true,
  durability: "synchronous_commit=on; history kept",
  variants: {
    default: { handler: "result" },
    tx: { handler: "tx" },
    write: { handler: "write" },
  },
  async setup(ctx) {
    const steps = Number(process.argv[process.argv.indexOf("--steps") + 1]) || 1;
    ctx.shared.steps = steps;
    ctx.app = appOf(ctx, steps, () => {});
    ctx.running = await start(ctx.app, { ...options(ctx), workers: false });
    const { database } = ctx.running.platform;
    await database.run({
      name: "bench_schema",
      text: "create table if not exists bench_effect (i bigint not null)",
    });
  },
  enqueue: (ctx, payloads) => Promise.all(payloads.map((payload) => ctx.app.parts.flow.start(payload))),
  async work(ctx, onStart) {
    const running = await start(appOf(ctx, ctx.steps, onStart), options(ctx));
    return { stop: () => running.stop() };
  },
  async pending(ctx) {
    const text = "select count(*)::int as count from tuntas.execution where status = 'RUNNING'";
    const [row] = await ctx.running.platform.database.run({ name: "bench_pending", text });
    return row.count;
  },
  async teardown(ctx) {
    await ctx.running?.stop();
  },
};

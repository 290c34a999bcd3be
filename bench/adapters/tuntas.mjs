// Tuntas for the peers' harness, with its public API in its default configuration.
import { app, queue, start, worker } from "../../lib/dist/index.js";

const any = { "~standard": { version: 1, vendor: "bench", validate: (value) => ({ value }) } };
const benchQueue = queue("bench", {
  message: any,
  deadLetter: { after: 5, owner: "bench", runbook: "bench/README.md", retention: "14d" },
});

const schemaOf = (kind) =>
  kind === "noop" ? undefined : "create table if not exists bench_effect (i bigint not null)";

const handlers = {
  noop: (onStart) => (payload) => onStart(payload),
  tx:
    (onStart) =>
    async (payload, { tx }) => {
      await onStart(payload);
      await tx.query("insert into bench_effect (i) values ($1)", [payload.i]);
    },
  write: (onStart) => async (payload, ctx) => {
    await onStart(payload);
    ctx.write("insert into bench_effect (i) values ($1)", [payload.i]);
  },
};

const quiet = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet };

export default {
  name: "tuntas",
  needs: "pg",
  durability: "synchronous_commit=on; done messages deleted",
  variants: {
    default: { handler: "noop" },
    keyed: { handler: "noop", keyed: true },
    tx: { handler: "tx" },
    write: { handler: "write" },
  },
  async setup(ctx) {
    ctx.running = await start(app({ benchQueue }), { databaseUrl: ctx.url, workers: false, log: quiet });
    const text = schemaOf(ctx.variant.handler);
    if (text) await ctx.running.platform.database.run({ name: "bench_schema", text });
  },
  enqueue: (_ctx, payloads) => Promise.all(payloads.map((payload) => benchQueue.send(payload))),
  async work(ctx, onStart) {
    const benchWorker = worker(benchQueue, {
      idempotencyKey: ctx.variant.keyed ? (payload) => String(payload.i) : "none",
      timeout: "60s",
      handle: handlers[ctx.variant.handler](onStart),
    });
    const running = await start(app({ benchWorker }), { databaseUrl: ctx.url, log: quiet });
    return { stop: () => running.stop() };
  },
  async pending(ctx) {
    const { queues } = ctx.running.platform;
    const record = await queues.catalog.get({ account: "000000000000", region: "us-east-1" }, "bench");
    const { ready, inFlight, delayed } = await queues.catalog.count(record);
    return ready + inFlight + delayed;
  },
  async teardown(ctx) {
    await ctx.running?.stop();
  },
};

// The floor of a message's way through PostgreSQL, for the peers' harness: one insert whose commit notifies, a listener in
// another process, and a claim by id, hand-written on node-postgres. What no queue with these two commits can go below.
import pg from "pg";

const insert = {
  name: "send",
  text: `with sent as (insert into bench_message (body) values ($1) returning id)
    select pg_notify('bench', id || ' ' || $1) from sent`,
};
const claim = {
  name: "claim",
  text: "update bench_message set owner = 1 where id = $1 and owner is null returning body",
};
const done = { name: "done", text: "delete from bench_message where id = $1" };

async function connect(url) {
  const client = new pg.Client(url);
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

export default {
  name: "raw-notify",
  needs: "pg",
  durability: "commit per call",
  variants: {
    // The claim on a connection of its own, on the one that listens, or none: what the notification carries is enough.
    default: { connections: 2, claims: true },
    listener: { connections: 1, claims: true },
    carried: { connections: 2, claims: false },
  },
  async setup(ctx) {
    ctx.client = await connect(ctx.url);
    await ctx.client.query(
      "create table bench_message (id bigint generated always as identity primary key, body text, owner int) with (fillfactor = 50)",
    );
  },
  async enqueue({ client }, payloads) {
    for (const payload of payloads) await client.query({ ...insert, values: [JSON.stringify(payload)] });
  },
  async work({ url, variant }, onStart) {
    const listener = await connect(url);
    const other = variant.connections > 1 ? await connect(url) : listener;
    listener.on("notification", async ({ payload }) => {
      const at = payload.indexOf(" ");
      const values = [payload.slice(0, at)];
      let body = payload.slice(at + 1);
      if (variant.claims) body = (await other.query({ ...claim, values })).rows[0].body;
      await onStart(JSON.parse(body));
      await other.query({ ...done, values });
    });
    await listener.query("listen bench");
    return { stop: () => Promise.all(new Set([listener, other]).values().map((client) => client.end())) };
  },
  async pending({ client }) {
    return Number((await client.query("select count(*) from bench_message")).rows[0].count);
  },
  async teardown({ client }) {
    await client?.end();
  },
};

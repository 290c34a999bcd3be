// The second tier: one PostgreSQL 15 as Debian packages it, several processes, a pooler between, and restarts under load.
import { fork, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test, type TestContext } from "vitest";
import { app, queue, start, worker, openPlatform, type RunningApp } from "tuntas";
import { testPlatform, type TestPlatform } from "tuntas/testing";
import {
  installed,
  startPgbouncer,
  startPostgres15,
  type SystemServer,
} from "../lib/src/testing/debian.fixture.ts";

const tools = installed();
let server: SystemServer | undefined;
beforeAll(async () => void (server = tools.postgres ? await startPostgres15() : undefined));
afterAll(() => server?.[Symbol.asyncDispose]());

/** Skips by name where a tool is absent, unless nothing may be skipped. */
function need(context: TestContext, ...names: (keyof typeof tools)[]): void {
  const missing = names.filter((name) => !tools[name]);
  if (missing.length === 0) return;
  if (process.env.TUNTAS_TEST_NO_SKIP === "1") throw new Error(`not installed: ${missing.join(", ")}`);
  context.skip(`not installed: ${missing.join(", ")}`);
}

const anything = {
  "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) },
} as const;
const deadLetter = { after: 5, owner: "o", runbook: "r", retention: "14d" } as const;
const scope = { account: "000000000000", region: "us-east-1" };

async function ask(kit: TestPlatform, text: string, values: unknown[] = []): Promise<any[]> {
  const client = await kit.platform.database.dedicatedClient();
  try {
    return (await client.query(text.replaceAll(/\btuntas\./g, `${kit.schema}.`), values)).rows;
  } finally {
    await client.end();
  }
}

const children: ChildProcess[] = [];
afterAll(() => children.forEach((child) => child.kill("SIGKILL")));

/** A process with one worker of the queue, and a promise for what it says. */
async function spawn(kit: TestPlatform, name: string) {
  const parts = JSON.stringify({ databaseUrl: kit.databaseUrl, schema: kit.schema, name, timeout: "60s" });
  const file = fileURLToPath(new URL("../lib/src/queue/worker/process.fixture.mjs", import.meta.url));
  const child = fork(file, [parts], { env: { ...process.env, TUNTAS_LOG_LEVEL: "silent" } });
  children.push(child);
  const told = (matches: (message: any) => boolean) =>
    new Promise<any>((resolve) => child.on("message", (message) => matches(message) && resolve(message)));
  await told(({ ready }) => ready);
  return { child, told };
}

/** Resolves once the query's only value is the wanted one; asks, because what it waits for happens in other processes. */
async function eventually(kit: TestPlatform, text: string, wanted: number): Promise<void> {
  while ((await ask(kit, text))[0].n !== wanted) await new Promise((resolve) => setTimeout(resolve, 20));
}

const effects = "select count(*)::int as n from tuntas.effect";

async function world(url = server!.url): Promise<TestPlatform> {
  const kit = await testPlatform({ databaseUrl: url, handlerConnectionsMax: 8 });
  await ask(kit, "create table tuntas.effect (id text not null, who text)");
  return kit;
}

test("PostgreSQL 15: what a killed process held is done by another, once each", async (context) => {
  need(context, "postgres");
  await using kit = await world();
  const [first] = await Promise.all([spawn(kit, "killed"), spawn(kit, "killed")]);
  const begun = first.told(({ begun }) => begun);
  await ask(
    kit,
    `select count(tuntas.send('killed', json_build_object('id', 'n' || n)::text)) from generate_series(1, 200) n`,
  );
  await begun;
  first.child.kill("SIGKILL");
  await eventually(kit, effects, 200);
  expect(await ask(kit, "select id from tuntas.effect group by id having count(*) > 1")).toEqual([]);
  await eventually(kit, "select count(*)::int as n from tuntas.in_flight", 0);
});

test("PostgreSQL 15: a fence that was passed on refuses the late owner", async (context) => {
  need(context, "postgres");
  await using kit = await world();
  const { child, told } = await spawn(kit, "fenced");
  const begun = told(({ begun }) => begun === "hold");
  await ask(kit, `select tuntas.send('fenced', '{"id":"hold"}')`);
  await begun;
  // It was claimed by itself, or with others that might have been there.
  for (const table of ["in_flight", "bundle"])
    await ask(kit, `update tuntas.${table} set fence = nextval('tuntas.fence')`);
  child.send("hold");
  const lateOwnerIsIdle =
    "select count(*)::int as n from pg_stat_activity where state = 'idle in transaction' and query ilike '%effect%'";
  await eventually(kit, lateOwnerIsIdle, 0);
  expect(await ask(kit, effects)).toEqual([{ n: 0 }]);
  expect(await ask(kit, "select count(*)::int as n from tuntas.held")).toEqual([{ n: 1 }]);
});

test("PostgreSQL 15: a tenant with a backlog of 1,000 does not delay another's message", async (context) => {
  need(context, "postgres");
  await using kit = await world();
  const { catalog, sender, receiver } = kit.platform.queues;
  const { queue: fair } = await catalog.create(scope, "fair", {});
  const send = (groupId: string, body: string) =>
    sender.send(fair, { messageId: crypto.randomUUID(), body, groupId }, "t");
  await Promise.all(Array.from({ length: 1000 }, (_, n) => send("noisy", `${n}`)));
  await send("quiet", "please");
  const first = await receiver.receive(fair, { countMax: 10, waitMs: 0, visibilitySeconds: null });
  expect(first.map(({ body }) => body)).toContain("please");
});

test("worker-07 PostgreSQL 15 restarts under load: nothing is lost, nothing doubled, and wakes work again", async (context) => {
  need(context, "postgres");
  await using kit = await world();
  const of = queue("restarted", { message: anything, deadLetter: { ...deadLetter, after: 1000 } });
  const work = worker(of, {
    idempotencyKey: ({ id }: any) => id,
    timeout: "20s",
    backoff: { base: "10ms", max: "100ms" },
    handle: ({ id }: any, context) => context.write(`insert into ${kit.schema}.effect values ($1, '')`, [id]),
  });
  const running: RunningApp = await start(app({ of, work }), { platform: kit.platform });
  const sent: string[] = [];
  let restarts = 0;
  async function load(): Promise<void> {
    for (let n = 0; restarts < 2 || n < 600; n++) {
      const id = `m${n}`;
      await of.send({ id }).then(
        () => sent.push(id),
        () => undefined,
      );
    }
  }
  const loading = load();
  for (; restarts < 2; restarts++) await server!.restart();
  await loading;
  await eventually(kit, `${effects} where id = any('{${sent.join(",")}}')`, sent.length);
  expect(await ask(kit, "select id from tuntas.effect group by id having count(*) > 1")).toEqual([]);
  // The listener is back: a message is taken at once, not at the next look.
  const latencies: number[] = [];
  for (let n = 0; n < 3; n++) {
    const at = performance.now();
    await of.send({ id: `after-${n}` });
    await eventually(kit, `${effects} where id = 'after-${n}'`, 1);
    latencies.push(performance.now() - at);
  }
  expect(Math.min(...latencies)).toBeLessThan(1000);
  await eventually(kit, "select count(*)::int as n from tuntas.in_flight", 0);
  await running.stop();
});

test("nobody who lives is taken for dead because the server restarted, or because his session was cut", async (context) => {
  need(context, "postgres");
  await using kit = await world();
  const all = [kit.platform, ...(await Promise.all([1, 2, 3].map(() => kit.another())))];
  const ids = all.map((each) => each.processId()).join(",");
  const lost: string[] = [];
  for (const each of all) each.onLost(() => lost.push(each.processId()));
  /** Waits until each has been heard again, or has been lost. */
  async function heard(): Promise<void> {
    const [{ now }] = await ask(kit, "select tuntas.now()::text as now");
    const again = `select count(*)::int as n from tuntas.process where id = any('{${ids}}') and heartbeat_at > '${now}'`;
    await expect
      .poll(async () => (lost.length > 0 ? all.length : (await ask(kit, again))[0].n))
      .toBe(all.length);
  }
  const cut = `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tuntas heartbeat'`;
  await heard();
  for (const strike of [
    () => server!.restart(),
    () => server!.restart(),
    ...Array(5).fill(() => ask(kit, cut)),
  ]) {
    await strike();
    await heard();
    await heard();
  }
  expect(lost).toEqual([]);
});

test("worker-07 PostgreSQL 15 is away for longer than a lease: the interrupted work is done once, and the next at once", async (context) => {
  need(context, "postgres");
  await using kit = await world();
  const before = kit.platform.processId();
  let inside!: () => void;
  const began = new Promise<void>((resolve) => (inside = resolve));
  const of = queue("away", { message: anything, deadLetter });
  const work = worker(of, {
    idempotencyKey: ({ id }: any) => id,
    timeout: "60s",
    backoff: { base: "10ms", max: "100ms" },
    async handle({ id }: any, { tx, attempt }) {
      await tx.query(`insert into ${kit.schema}.effect values ($1, '')`, [id]);
      if (id !== "interrupted" || attempt > 1) return;
      inside();
      await tx.query("select pg_sleep(50)");
    },
  });
  const running = await start(app({ of, work }), { platform: kit.platform });
  await of.send({ id: "interrupted" });
  await began;
  await server!.restart(17_000); // the lease is 15 s
  await eventually(kit, effects, 1);
  await of.send({ id: "next" });
  await eventually(kit, effects, 2);
  await eventually(kit, "select count(*)::int as n from tuntas.in_flight", 0);
  while (kit.platform.processId() === before) await new Promise((resolve) => setTimeout(resolve, 50));
  await running.stop();
});

test("pgbouncer in transaction mode: found out at the start, and work is done once", async (context) => {
  need(context, "postgres", "pgbouncer");
  await using bouncer = await startPgbouncer(server!);
  await using kit = await world(bouncer.url);
  expect(kit.platform.database.pooled).toBe(true);
  const other = await openPlatform({
    databaseUrl: bouncer.url,
    schema: kit.schema,
    handlerConnectionsMax: 4,
  });
  const of = queue("pooled", { message: anything, deadLetter });
  const fifo = queue("pooled.fifo", { message: anything, deadLetter });
  const handle = ({ id }: any, { tx }: any) =>
    tx.query(`insert into ${kit.schema}.effect values ($1, '')`, [id]);
  const options = { idempotencyKey: ({ id }: any) => id, timeout: "20s", handle } as const;
  const parts = app({ of, fifo, a: worker(of, options), b: worker(fifo, options) });
  const apps = [await start(parts, { platform: kit.platform }), await start(parts, { platform: other })];
  await Promise.all(
    Array.from({ length: 100 }, (_, n) => [
      of.send({ id: `s${n}` }),
      fifo.send({ id: `f${n}` }, { groupId: `g${n % 5}`, deduplicationId: `${n}` }),
    ]).flat(),
  );
  await eventually(kit, effects, 200);
  expect(await ask(kit, "select id from tuntas.effect group by id having count(*) > 1")).toEqual([]);
  for (const each of apps) await each.stop();
  await other.close();
});

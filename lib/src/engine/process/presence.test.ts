import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { testPlatform, type TestPlatform } from "tuntas/testing";
import { attachEmbedded } from "../../pg/embedded/index.ts";

let kit: TestPlatform;
beforeAll(async () => void (kit = await testPlatform({ watches: false })));
afterAll(() => kit[Symbol.asyncDispose]());

async function askOf({ platform, schema }: TestPlatform, text: string, ...values: unknown[]): Promise<any[]> {
  return platform.database.transaction(async ({ client }) => {
    const { rows } = await client.query(text.replaceAll("tuntas.", `${schema}.`), values);
    return rows;
  });
}

const ask = (text: string, ...values: unknown[]) => askOf(kit, text, ...values);

const beats = () =>
  ask(`select id::text, pg_try_advisory_xact_lock(lock_key) as free, lock_key::text as lock from tuntas.process
    where lock_key is not null`);

test("who was taken for dead beats again at once, in another's name, from the thread and the session that it had", async () => {
  const [before] = await beats();
  expect(before).toMatchObject({ id: kit.platform.processId(), free: false });
  let threads = 0;
  const count = () => void threads++;
  subscribe("worker_threads", count);
  const lost = new Promise<void>((resolve) => kit.platform.onLost(resolve));
  await ask("delete from tuntas.process");
  await lost;
  await expect.poll(beats).toMatchObject([{ free: false }]);
  unsubscribe("worker_threads", count);
  const [after] = await beats();
  expect(after.id).not.toBe(before.id);
  expect(kit.platform.processId()).toBe(after.id);
  expect(await ask("select pg_try_advisory_xact_lock($1) as free", before.lock)).toEqual([{ free: true }]);
  expect(threads).toBe(0);
});

/** The URL of a server that has just started; gone with the test. */
async function freshServer(): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), "tuntas-"));
  const server = await attachEmbedded({ dataDir });
  onTestFinished(async () => {
    await server.detach();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 20 });
  });
  return server.url;
}

// Whose locks are free, of which one was had from the server as it runs.
const gone = `insert into tuntas.process (name, host, pid, version, lock_key, locked_on, started_at, heartbeat_at, expires_at)
  select name, 'h', 1, 'v', key, run, tuntas.now(), tuntas.now(), tuntas.now() + interval '1 h'
  from (select 'died', 1, run from tuntas.server_run() union all select 'may come back', 2, 'before') as v(name, key, run)`;

test("on a server that has just started, who had his lock from it and has it no more is dead at once", async () => {
  const url = await freshServer();
  await using fresh = await testPlatform({ databaseUrl: url, watches: false });
  const look = () =>
    askOf(
      fresh,
      `select coalesce(array_agg(name) filter (where host = 'h'), '{}') as left,
         date_part('epoch', pg_catalog.now() - pg_postmaster_start_time()) as age from tuntas.process`,
    );
  await askOf(fresh, gone);
  const [begun] = await look();
  let seen = begun;
  while (seen.left.includes("died")) [seen] = await look();
  // A machine that was too slow to come here in good time finds both dead.
  if (begun.age < 2.5) expect(seen.left).toEqual(["may come back"]);
  while (seen.left.length > 0) [seen] = await look();
  expect(seen.age).toBeGreaterThan(5);
});

test("a server whose sessions a crash has ended runs anew, and who had his lock before that may come back", async () => {
  const url = await freshServer();
  const runOf = async (text: string) => {
    const client = new pg.Client(url);
    client.on("error", () => undefined);
    await client.connect();
    const { rows } = await client.query(text).finally(() => client.end().catch(() => undefined));
    return rows[0];
  };
  const fresh = await testPlatform({ databaseUrl: url, watches: false });
  const look = `select run, pg_postmaster_start_time()::text as started from ${fresh.schema}.server_run()`;
  const before = await runOf(look);
  const victim = new pg.Client(url);
  victim.on("error", () => undefined);
  await victim.connect();
  process.kill((await victim.query("select pg_backend_pid() as pid")).rows[0].pid, "SIGKILL");
  const after = () => runOf(look).catch(() => before);
  await expect.poll(async () => (await after()).run, { timeout: 20_000 }).not.toBe(before.run);
  expect((await after()).started).toBe(before.started);
  await fresh[Symbol.asyncDispose]();
});

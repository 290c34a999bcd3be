// What happens beside a claim within tenants' limits: senders, failures that are counted meanwhile, another deployment, operators.
import { afterAll, beforeAll, expect, test } from "vitest";
import { app, start } from "../../index.ts";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import { defaultScope, type HeldMessage, type QueueRecord } from "../contract.ts";
import { encodeReceipt } from "../receipt.ts";
import { claimTenants, countFailures } from "../store/tenant.ts";
import { limitColumns, type TenantOptions } from "../tenants.ts";
import { makeTenanted, pagesTouched, putBacklog, workTenanted } from "./tenanted.fixture.ts";
import { ask, gate } from "./worker.fixture.ts";

let kit: TestPlatform;
beforeAll(async () => void (kit = await testPlatform()));
afterAll(() => kit[Symbol.asyncDispose]());

async function made() {
  const of = await makeTenanted(kit.platform);
  return { of, record: await kit.platform.queues.catalog.get(defaultScope, of.name) };
}

const put = (name: string, tenant: string, count: number) =>
  putBacklog(kit.platform, { name, tenant, count });

/** A claim as a worker with these options makes it. */
const claimAs = (options: TenantOptions, { id: queueId }: QueueRecord, count = 8) => ({
  queueId,
  count,
  ownerId: kit.platform.processId(),
  limits: limitColumns(options),
  strays: false,
  failuresMax: options.breaker?.failures ?? null,
});

async function claimedOf(options: TenantOptions, queue: QueueRecord, count?: number) {
  const { messages } = await claimTenants(kit.platform.database, claimAs(options, queue, count));
  return messages;
}

const groups = (messages: readonly HeldMessage[]) => messages.map(({ groupId }) => groupId).toSorted();

const standstill = "1h";

test("N-07 a failure that is counted while a claim looks at its tenant is seen by it: the message that went back is not taken", async () => {
  const { of, record } = await made();
  const options = { concurrency: 1, breaker: { failures: 1, standstill } } as const;
  await put(of.name, "A", 2);
  const [held] = await claimedOf(options, record);
  expect(held).toMatchObject({ groupId: "A" });
  const client = await kit.platform.database.dedicatedClient();
  const inSchema = (text: string) => text.replaceAll("tuntas.", `${kit.schema}.`);
  await client.query("begin");
  await client.query(inSchema("lock table tuntas.in_flight in access exclusive mode"));
  const claiming = claimTenants(kit.platform.database, claimAs(options, record));
  const waits = `select count(*)::int as n from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like '%claim_tenants%'`;
  await expect.poll(() => ask(kit.platform, waits)).toEqual([{ n: 1 }]);
  // What a worker does in two commits, of which the other's look fell between.
  await client.query(
    inSchema(
      `insert into tuntas.tenant (queue_id, tenant, failures, open_until, changed_at)
       values ($1, 'A', 1, tuntas.now() + interval '1 hour', tuntas.now())`,
    ),
    [record.id],
  );
  await client.query(
    inSchema(
      `with gone as (delete from tuntas.in_flight where id = $1 returning *)
       insert into tuntas.ready (queue_id, turn, id, receives, sent_at, first_received_at, group_id)
       select queue_id, turn, id, receives, sent_at, first_received_at, group_id from gone`,
    ),
    [held!.id],
  );
  await client.query("commit");
  await client.end();
  expect((await claiming).messages).toEqual([]);
});

test("a send waits for no claim, however slow that is", async () => {
  const { of, record } = await made();
  await put(of.name, "A", 3);
  await using sender = await start(app({ of }), { platform: kit.platform, workers: false });
  const client = await sender.platform.database.dedicatedClient();
  await kit.platform.database.transaction(async (tx) => {
    expect((await claimTenants(tx, claimAs({ concurrency: 2 }, record))).messages).toHaveLength(2);
    await of.send({ id: "1", tenant: "B" });
    await client.query("begin");
    await of.send({ id: "2", tenant: "A" }, { tx: client });
    await client.query("commit");
  });
  await client.end();
  expect(groups(await claimedOf({ concurrency: 3 }, record))).toEqual(["A", "B"]);
});

test("two deployments with other options side by side: each holds its own cap over both, and a breaker that one opened holds both", async () => {
  const { of, record } = await made();
  const older = { concurrency: 4, breaker: { failures: 10, standstill } } as const;
  const newer = { concurrency: 2, breaker: { failures: 1, standstill } } as const;
  await put(of.name, "A", 20);
  await put(of.name, "B", 20);
  expect(groups(await claimedOf(older, record, 20))).toEqual([..."AAAABBBB"]);
  expect(await claimedOf(newer, record)).toEqual([]);
  await ask(kit.platform, "delete from tuntas.in_flight where queue_id = $1", [record.id]);
  expect(groups(await claimedOf(newer, record))).toEqual([..."AABB"]);
  expect(groups(await claimedOf(older, record))).toEqual([..."AABB"]);
  await ask(kit.platform, "delete from tuntas.in_flight where queue_id = $1", [record.id]);
  await countFailures(kit.platform.database, record.id, {
    failures: ["A"],
    failuresMax: 1,
    standstillSeconds: 60,
  });
  expect(groups(await claimedOf(older, record))).toEqual([..."BBBB"]);
});

test("what a claim costs does not grow with tenants that have nothing ready: 10,000 known, held or limited before", async () => {
  const { of, record } = await made();
  for (const tenant of "ABCD") await put(of.name, `m-${tenant}`, 50);
  const text = "select * from tuntas.claim_tenants($1, 8, 1, 1, false, '{null}', '{0}', '{5}', 5)"; // a cap of none, so that nothing moves
  const before = await pagesTouched(kit, text, record.id);
  await ask(
    kit.platform,
    `with t as (insert into tuntas.tenant (queue_id, tenant, next_at, failures, open_until, changed_at)
       select $1, case n % 2 when 0 then 'a-' else 'z-' end || n, tuntas.now(), 9, tuntas.now() + interval '1 hour', tuntas.now()
       from generate_series(1, 10000) n returning tenant)
     insert into tuntas.in_flight (queue_id, id, fence, owner_id, claimed_at, turn, receives, sent_at, first_received_at, group_id)
     select $1, nextval('tuntas.message_id_seq'), 1, $2::bigint, tuntas.now(), 0, 1, tuntas.now(), tuntas.now(), tenant from t`,
    [record.id, kit.platform.processId()],
  );
  const after = await pagesTouched(kit, text, record.id);
  console.log(
    `a claim touches ${before} pages with 4 tenants, ${after} with 10,004 of which 4 have messages`,
  );
  expect(after / before).toBeLessThan(2);
  await ask(kit.platform, "delete from tuntas.in_flight where queue_id = $1", [record.id]);
});

test("a purge, a pause and a new queue of the same name leave no place taken and no tenant behind", async () => {
  const { of, record } = await made();
  const { catalog } = kit.platform.queues;
  const options = { concurrency: 2 };
  await put(of.name, "A", 5);
  expect(await claimedOf(options, record)).toHaveLength(2);
  await catalog.purge(record, "test", "a test");
  expect(await kit.platform.queues.inspector.tenants(record, 10)).toEqual([]);
  await put(of.name, "A", 5);
  expect(await claimedOf(options, record)).toHaveLength(2);
  await catalog.delete(record);
  const again = await makeTenanted(kit.platform, of);
  const anew = await catalog.get(defaultScope, again.name);
  await catalog.pause(anew, "test", "a test");
  await put(of.name, "A", 1);
  await using it = await workTenanted(kit.platform, of, { tenants: options });
  expect(await catalog.count(anew)).toMatchObject({ ready: 1, inFlight: 0 });
  await catalog.resume(anew, "test", "a test");
  await it.attempts.until(1);
});

test("what is received over the wire takes its tenant's place until it is shown again", async () => {
  const { of, record } = await made();
  const { receiver, receipts } = kit.platform.queues;
  await put(of.name, "A", 2);
  const [message] = await receiver.receive(record, { countMax: 1, waitMs: 0, visibilitySeconds: 600 });
  expect(await claimedOf({ concurrency: 1 }, record)).toEqual([]);
  expect(await receipts.change(record, encodeReceipt(message!), 0)).toBe("ok");
  await expect.poll(() => claimedOf({ concurrency: 1 }, record)).toHaveLength(1);
});

test("a redrive brings back each message to its tenant, whose cap holds for what comes so", async () => {
  const { of, record } = await made();
  const dead = await kit.platform.queues.catalog.get(defaultScope, record.deadLetterName!);
  await ask(
    kit.platform,
    `with sent as (insert into tuntas.message (message_id, sent_at, sender, body)
       select gen_random_uuid(), tuntas.now(), 'test', json_build_object('id', n::text, 'tenant', 'A') from generate_series(1, 30) n returning id)
     insert into tuntas.ready (queue_id, turn, id, receives, sent_at, group_id, source_queue_id)
     select $1, 0, id, 3, tuntas.now(), 'A', $2::int from sent`,
    [dead.id, record.id],
  );
  const [hold, held] = [gate(), gate()];
  let [now, peak] = [0, 0];
  await using it = await workTenanted(kit.platform, of, {
    tenants: { concurrency: 2 },
    async handle({ tenant }) {
      if (tenant === "A") peak = Math.max(peak, ++now);
      if (now === 2) held.open();
      await hold.promise;
      if (tenant === "A") now--;
    },
  });
  await kit.platform.queues.moves.start(dead, {});
  await held.promise;
  await put(of.name, "B", 1);
  hold.open();
  await it.attempts.until(31);
  expect(peak).toBe(2);
  expect(it.attempts.seen.every(({ outcome }) => outcome === "done")).toBe(true);
});

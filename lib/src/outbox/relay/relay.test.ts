import { createServer, type Server } from "node:http";
import { once as event } from "node:events";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { channelName } from "../../engine/signals.ts";
import { makeTargets, type Announcement, type Target } from "../../engine/target.ts";
import { inSchema } from "../../pg/join.ts";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import { add, addAll, listParked, putBack, readStatus } from "../client.ts";
import { httpTarget } from "../http.ts";
import { claimRows, lockTarget } from "../store.ts";
import { startRelay, type Relay, type RelayOptions } from "./index.ts";

let kit: TestPlatform;
const relays: Relay[] = [];
beforeAll(async () => void (kit = await testPlatform()));
afterEach(async () => void (await Promise.all(relays.splice(0).map((relay) => relay.close()))));
afterAll(() => kit[Symbol.asyncDispose]());

const quick = { refusalsMax: 10, backoff: { baseMs: 5, maxMs: 20 } };

/** A relay of its own, as another process would have, with this function target. */
function relay(name: string, target: Target, options: Partial<RelayOptions> = {}): void {
  const { database, waker, log, processId } = kit.platform;
  const targets = makeTargets();
  targets.bind({ kind: "function", name }, target);
  relays.push(startRelay({ database, waker, log, targets, owner: processId, policy: quick, ...options }));
}

const to = (name: string) => ({ kind: "function", name });
const adding = (name: string, payload: string, key?: string) =>
  kit.platform.database.transaction((tx) =>
    add(tx, { target: to(name), payload, ...(key !== undefined && { key }) }),
  );

/** Looks until it holds; what the relay does has no other end to wait for here. */
async function until(holds: () => boolean | Promise<boolean>, withinMs = 50_000): Promise<void> {
  for (const begun = performance.now(); !(await holds()); await sleep(10)) {
    if (performance.now() - begun > withinMs) throw new Error("it did not come to hold in time");
  }
}

async function transaction() {
  const client = await kit.platform.database.handlerClient();
  await client.query("begin");
  return {
    tx: inSchema(client, kit.schema),
    async end(how: "commit" | "rollback") {
      await client.query(how);
      client.release();
    },
  };
}

function recorder(refuse: (announcement: Announcement) => boolean = () => false) {
  const got: string[] = [];
  const deliver = async (announcement: Announcement) => {
    if (refuse(announcement)) throw new Error(`not ${announcement.payload}`);
    got.push(announcement.payload);
  };
  return { got, target: { deliver } satisfies Target };
}

test("G-10 G-12 what is added is published after the commit, and what is rolled back never", async () => {
  const { got, target } = recorder();
  relay("basic", target);
  const lost = await transaction();
  await add(lost.tx, { target: to("basic"), payload: "never" });
  await lost.end("rollback");
  const { id } = await adding("basic", 'byte for byte: {"b":1, "a":2}');
  await until(() => got.length === 1);
  expect(got).toEqual(['byte for byte: {"b":1, "a":2}']);
  const published = async () => {
    const client = await kit.platform.database.handlerClient();
    const { rows } = await client.query(
      `select id::text, duplicate from ${kit.schema}.outbox_published where id = $1`,
      [id],
    );
    client.release();
    return rows;
  };
  await until(async () => (await published()).length === 1);
});

test("outbox-01 commits that overtake each other lose nothing, and a gap delays nothing", async () => {
  const { got, target } = recorder();
  relay("overtake", target);
  const t1 = await transaction();
  await add(t1.tx, { target: to("overtake"), key: "a", payload: "1" });
  await adding("overtake", "2", "b");
  await until(() => got.includes("2"));
  expect((await readStatus(kit.platform.database)).openWriterAgeMs).toBeGreaterThan(0);
  await t1.end("commit");
  const t3 = await transaction();
  await add(t3.tx, { target: to("overtake"), payload: "3" });
  await t3.end("rollback");
  await adding("overtake", "4", "a");
  await until(() => got.length === 3);
  expect(got).toEqual(["2", "1", "4"]);
});

test("outbox-03 an outage burns no tries; a row that is refused for itself is parked, and put back by one call", async () => {
  const got: string[] = [];
  let refusals = 0;
  let mended = false;
  const server: Server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const refused = body === "row 7" && !mended;
      if (refused) refusals++;
      else got.push(body);
      response.writeHead(refused ? 422 : 204).end();
    });
  });
  server.listen(0, "127.0.0.1");
  await event(server, "listening");
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));

  const rows = Array.from({ length: 24 }, (_, index) => ({
    target: to("broker"),
    key: `k${index % 4}`,
    payload: `row ${index + 1}`,
  }));
  await kit.platform.database.transaction((tx) => addAll(tx, rows));
  relay("broker", httpTarget({ url: `http://127.0.0.1:${port}/` }));
  await sleep(2500); // tens of tries at a target that refuses connections
  const { rows: tries } = await kit.platform.database.transaction((tx) =>
    tx.client.query(
      `select max(refusals)::int as refusals from ${kit.schema}.outbox where target_name = 'broker'`,
    ),
  );
  expect(tries).toEqual([{ refusals: 0 }]);

  server.listen(port, "127.0.0.1");
  await until(() => got.length === 23, 40_000);
  await until(async () => (await listParked(kit.platform.database, { target: to("broker") })).length === 1);
  expect(refusals).toBe(10);
  for (const key of [0, 1, 2, 3]) {
    const ofKey = got.map((text) => Number(text.slice(4))).filter((row) => (row - 1) % 4 === key);
    expect(ofKey).toEqual(ofKey.toSorted((a, b) => a - b));
  }
  const [row] = await listParked(kit.platform.database);
  expect(row).toMatchObject({ payload: "row 7", refusals: 10, failureCode: "TUNTAS_OUTBOX_REFUSED" });
  mended = true;
  expect(await putBack(kit.platform.database, { target: to("broker") })).toBe(1);
  await until(() => got.length === 24);
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

test("a key that is held back by its first row keeps its order and blocks no other key", async () => {
  let open = false;
  const { got, target } = recorder(({ payload }) => payload === "a1" && !open);
  relay("keys", target, { policy: { refusalsMax: 1000, backoff: { baseMs: 20, maxMs: 20 } } });
  await kit.platform.database.transaction((tx) =>
    addAll(
      tx,
      ["a1", "a2", "b1", "a3", "b2"].map((payload) => ({ target: to("keys"), key: payload[0]!, payload })),
    ),
  );
  await until(() => got.length === 2);
  expect(got).toEqual(["b1", "b2"]);
  open = true;
  await until(() => got.length === 5);
  expect(got.slice(2)).toEqual(["a1", "a2", "a3"]);
});

test("G-11 several relays share the work: each row once, each key in order", async () => {
  const got: { key: string; n: number }[] = [];
  const deliver = async ({ key, payload }: Announcement) => {
    await sleep(1);
    got.push({ key: key!, n: Number(payload) });
  };
  for (let n = 0; n < 3; n++) {
    const { processId } = await kit.another();
    relay("shared", { deliver }, { owner: processId });
  }
  for (let round = 0; round < 10; round++) {
    const rows = Array.from({ length: 60 }, (_, index) => ({
      target: to("shared"),
      key: `k${index % 7}`,
      payload: String(round * 60 + index),
    }));
    await kit.platform.database.transaction((tx) => addAll(tx, rows));
  }
  await until(() => got.length >= 600);
  expect(got).toHaveLength(600);
  for (let key = 0; key < 7; key++) {
    const order = got.filter((row) => row.key === `k${key}`).map((row) => row.n);
    expect(order).toEqual(order.toSorted((a, b) => a - b));
  }
});

test("R-11 G-12 what a dead relay had claimed is published by another, and the late owner's word changes nothing", async () => {
  const { got, target } = recorder();
  await adding("dead", "x", "k");
  const { database } = kit.platform;
  const gone = await database.transaction(async (tx) => {
    await lockTarget(tx, to("dead"));
    const { rows } = await tx.client.query(
      `insert into ${kit.schema}.process (name, host, pid, version, started_at, heartbeat_at, expires_at) values ('gone', 'h', 1, 'v', now(), now(), now() + interval '1 hour') returning id::text`,
    );
    const claimed = await claimRows(tx, to("dead"), { owner: rows[0].id, rowsMax: 10, leaseMs: 60_000 });
    return { owner: rows[0].id as string, row: claimed[0]! };
  });
  relay("dead", target);
  await sleep(300);
  expect(got).toEqual([]); // its owner lives, as far as anybody knows
  await database.transaction((tx) =>
    tx.client.query(`delete from ${kit.schema}.process where id = $1`, [gone.owner]),
  );
  await until(() => got.length === 1);
  const { publishRows } = await import("../store.ts");
  expect(
    await publishRows(database, [
      { id: gone.row.id, fence: gone.row.fence, duplicate: false, reference: undefined },
    ]),
  ).toEqual([]);
});

test("a queue as a target gets each announcement exactly once, as a message with the event's id", async () => {
  const { queues, database } = kit.platform;
  const scope = { account: "000000000000", region: "us-east-1" };
  const target = { kind: "queue", name: "announced" };
  const { eventId } = await database.transaction((tx) =>
    add(tx, { target, payload: "hello", type: "Greeted" }),
  );
  await sleep(200); // there is no such queue yet: the row waits, and loses no try
  const { queue } = await queues.catalog.create(scope, "announced", {});
  let messages: readonly { messageId: string; body: string }[] = [];
  await until(async () => {
    messages = await queues.receiver.receive(queue, { countMax: 10, waitMs: 0, visibilitySeconds: null });
    return messages.length > 0;
  });
  expect(messages).toMatchObject([{ messageId: eventId, body: "hello" }]);
  const rows = Array.from({ length: 300 }, (_, index) => ({ target, payload: String(index) }));
  await database.transaction((tx) => addAll(tx, rows));
  await until(async () => (await queues.catalog.count(queue)).ready === 300);
});

test("V-15 the age of what waits is a figure, and an alarm with its reason from a threshold on", async () => {
  const heard: unknown[] = [];
  const hear = (message: unknown) => void heard.push(message);
  subscribe(channelName("outbox.overdue"), hear);
  await adding("nobody", "x");
  relay("somebody else", { deliver: async () => undefined }, { ageAlarmMs: 1 });
  await until(() => heard.some((message) => (message as { name: string }).name === "nobody"));
  unsubscribe(channelName("outbox.overdue"), hear);
  expect(heard).toContainEqual(
    expect.objectContaining({
      kind: "function",
      name: "nobody",
      reason: "no process here has bound the target",
    }),
  );
  const { targets } = await readStatus(kit.platform.database);
  expect(targets).toContainEqual({
    target: to("nobody"),
    waiting: 1,
    parked: 0,
    oldestAgeMs: expect.any(Number),
    owner: null,
    runbook: null,
  });
});

test("what cannot be announced is refused and changes nothing", async () => {
  const wrong = [
    { payload: "a\0b" },
    { payload: "\ud800" },
    { key: "" },
    { eventId: "7" },
    { target: { kind: "", name: "x" } },
  ];
  for (const part of wrong) {
    const adds = kit.platform.database.transaction((tx) =>
      add(tx, { target: to("x"), payload: "x", ...part }),
    );
    await expect(adds).rejects.toMatchObject({ code: "TUNTAS_OUTBOX_INVALID" });
  }
  const pool = { query: async () => ({ rows: [] }), totalCount: 0, idleCount: 0 };
  await expect(add(pool, { target: to("x"), payload: "x" })).rejects.toMatchObject({
    code: "TUNTAS_TX_POOL",
  });
});

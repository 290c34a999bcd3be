// What a process costs that has nothing to do, and that it finds work all the same when no notification reaches it.
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { app, openPlatform, queue, start, worker, type Platform } from "tuntas";
import { add } from "tuntas/outbox";
import { testPlatform, type TestPlatform } from "tuntas/testing";
import { openWire, type Wire } from "./fault/proxy.ts";

let kit: TestPlatform;
let wire: Wire;
beforeAll(async () => {
  kit = await testPlatform({ watches: false });
  wire = await openWire(kit.databaseUrl);
});
afterAll(async () => {
  await kit[Symbol.asyncDispose]();
  await wire[Symbol.asyncDispose]();
});

/** A platform of its own behind the wire. */
const open = (watches: boolean) => openPlatform({ databaseUrl: wire.url, schema: kit.schema, watches });

const deadLetter = { after: 5, owner: "tests", runbook: "sim/README.md", retention: "14d" } as const;

/** A worker whose handler resolves the promise of the message's id. */
function declare(name: string) {
  const handled = new Map<string, () => void>();
  const work = queue(name, { message: z.object({ id: z.string() }), deadLetter });
  const worked = worker(work, {
    idempotencyKey: "none",
    timeout: "20s",
    handle: ({ id }) => handled.get(id)?.(),
  });
  const done = (id: string) => new Promise<void>((resolve) => handled.set(id, resolve));
  return { work, worked, done };
}

/** Statements that reach the server in so many seconds. */
async function countFor(seconds: number): Promise<number> {
  const before = wire.ended;
  await pause(seconds * 1000);
  return wire.ended - before;
}

async function withQuiet(
  parts: Parameters<typeof app>[0],
  look: (platform: Platform) => Promise<void>,
  watches = false,
) {
  const platform = await open(watches);
  try {
    await using _running = await start(app(parts), { platform });
    await pause(3000);
    await look(platform);
  } finally {
    await platform.close();
  }
}

test("an idle process with twenty workers sends one statement a second", async () => {
  const parts = Array.from({ length: 20 }, (_, n) => declare(`idle-${n}`).worked);
  await withQuiet(Object.fromEntries(parts.map((part, n) => [`w${n}`, part])), async () => {
    expect(await countFor(10)).toBeLessThanOrEqual(12);
  });
});

// Eleven beats, and one round of figures: of the pulse, all gauges, the first points of each series, and what alarms need. On a
// machine so busy that a process is still starting three seconds later, that is counted too: then it is looked at anew.
test(
  "a process that also watches over all others sends hardly more, from its first seconds on",
  { retry: 2 },
  async () => {
    const { worked } = declare("watched");
    const look = async () => expect(await countFor(11)).toBeLessThanOrEqual(20);
    await withQuiet({ worked }, look, true);
  },
);

test("where every notification is lost, workers, long polls and the outbox find their work by the heartbeat alone", async () => {
  const { work, worked, done } = declare("unheard");
  wire.notifications = "lost";
  await withQuiet({ worked }, async (platform) => {
    const scope = { account: "000000000000", region: "us-east-1" };
    const { queue: polled } = await platform.queues.catalog.create(scope, "polled", {});
    const { queue: found } = await kit.platform.queues.catalog.create(scope, "polled", {});
    const received = platform.queues.receiver.receive(polled, {
      countMax: 1,
      waitMs: 20_000,
      visibilitySeconds: null,
    });
    await pause(1500);
    await kit.platform.queues.sender.send(found, { messageId: randomUUID(), body: "polled" }, "test");
    expect(await received).toMatchObject([{ body: "polled" }]);

    const byQueue = done("sent");
    const record = (await kit.platform.queues.catalog.find(scope, work.name))!;
    await kit.platform.queues.sender.send(record, { messageId: randomUUID(), body: '{"id":"sent"}' }, "test");
    await byQueue;

    const byOutbox = done("announced");
    const target = { kind: "queue", name: work.name };
    await kit.platform.database.transaction((tx) => add(tx, { target, payload: '{"id":"announced"}' }));
    await byOutbox;
  });
  wire.notifications = "pass";
});

test("a beat that fails each time rests between its tries", async () => {
  await withQuiet({ worked: declare("failing").worked }, async () => {
    const client = await kit.platform.database.dedicatedClient();
    const rename = (from: string, to: string) =>
      client.query(`alter table ${kit.schema}.process rename column ${from} to ${to}`);
    await rename("heartbeat_at", "away");
    expect(await countFor(2)).toBeLessThan(100);
    await rename("away", "heartbeat_at");
    await client.end();
  });
});

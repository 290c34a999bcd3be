// A claim that was committed, and whose answer its process never got. That process lives, so nobody takes over what it
// holds; nor does it know of it. It goes on within seconds all the same, however busy the process is meanwhile.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { app, openPlatform, queue, start, worker, workflow, type Platform } from "tuntas";
import { add } from "tuntas/outbox";
import { testPlatform, type TestPlatform } from "tuntas/testing";
import { openWire, type Cut, type Wire } from "./fault/proxy.ts";
import { scope } from "./world.ts";

let kit: TestPlatform;
let wire: Wire;
let platform: Platform;
beforeAll(async () => {
  kit = await testPlatform();
  wire = await openWire(kit.databaseUrl);
  platform = await openPlatform({ databaseUrl: wire.url, schema: kit.schema });
});
afterAll(async () => {
  await platform.close();
  await kit[Symbol.asyncDispose]();
  await wire[Symbol.asyncDispose]();
});

const patient = { interval: 50 };
const claim = /delete from \S+\.ready where ctid/;
const claimInGroups = /claim_fifo/;
const cap = /from \S+\.queue where id = \$1 for update/;

interface Kind {
  readonly of: string;
  readonly statement: RegExp;
  readonly cut: Cut;
  readonly options?: object;
}

const cut = "after commit";
const kinds: readonly Kind[] = [
  { of: "messages in a bundle", cut, statement: claim },
  {
    of: "messages by themselves",
    cut,
    statement: claim,
    options: { lock: ({ id }: { id: string }) => id },
  },
  { of: "messages of groups", cut, statement: claimInGroups },
  { of: "messages under a cap", cut, statement: cap, options: { globalConcurrency: 3 } },
  { of: "messages of a claim that commits late", cut: "late commit", statement: claim },
];

/** What is announced from now on. */
function listen(channel: string, matches: (fields: any) => boolean): any[] {
  const heard: any[] = [];
  subscribe(channel, (fields) => matches(fields) && heard.push(fields));
  return heard;
}

function once(channel: string, act: () => void): void {
  const listener = () => {
    unsubscribe(channel, listener);
    act();
  };
  subscribe(channel, listener);
}

/** Resolves after this process's next heartbeat: what it was asking for before has been answered by then. */
async function nextBeat(): Promise<void> {
  const text = `select heartbeat_at::text as at from ${kit.schema}.process where id = $1`;
  const read = () =>
    kit.platform.database.transaction(
      async (tx) => (await tx.client.query(text, [platform.processId()])).rows[0].at as string,
    );
  const before = await read();
  await expect.poll(read, patient).not.toBe(before);
}

let names = 0;

/** A worker that is at one message all the time, and counts the attempts of the others. */
function busyWorker({ statement, options }: Kind) {
  const name = `busy-${++names}${statement === claimInGroups ? ".fifo" : ""}`;
  const of = queue(name, {
    message: z.object({ id: z.string() }),
    deadLetter: { after: 5, owner: "tests", runbook: "sim/README.md", retention: "14d" },
  });
  const attempts = new Map<string, number>();
  let failures = 0;
  let finish!: () => void;
  const over = new Promise<void>((resolve) => (finish = resolve));
  const work = worker(of, {
    idempotencyKey: "none",
    timeout: "2m",
    concurrency: 3,
    ...options,
    async handle({ id }, { attempt }) {
      attempts.set(id, attempt);
      if (id === "long") await over;
      if (id === "fails once" && failures++ === 0) throw new Error("once");
    },
  });
  const send = (id: string) =>
    of.send({ id }, name.endsWith(".fifo") ? { groupId: id, deduplicationId: id } : {});
  return { name, parts: { of, work }, send, attempts, finish };
}

describe("what a busy worker has claimed is handled, as if nothing had been", () => {
  test.each(kinds)("$of", async (kind) => {
    const { name, parts, send, attempts, finish } = busyWorker(kind);
    await using _running = await start(app(parts), { platform });
    await send("long");
    await expect.poll(() => attempts.has("long"), patient).toBe(true);
    const { catalog } = platform.queues;
    const { id: queueId } = await catalog.get(scope, name);
    const set = async (act: "pause" | "resume") =>
      catalog[act](await catalog.get(scope, name), "tests", "a test");
    const released = listen("tuntas.queue.released", (fields) => fields.queueId === queueId);
    await set("pause");
    // A claim that had begun by then would be the one that is cut, and has nothing.
    await nextBeat();
    const cut = wire.cutNext(kind.cut, kind.statement);
    if (kind.cut === "after commit") for (const id of ["a", "b"]) await send(id);
    await set("resume");
    await cut;
    if (kind.cut === "late commit") {
      await set("pause");
      for (const id of ["a", "b"]) await send(id);
      wire.deliverLate();
    }
    await expect.poll(() => released.map(({ count }) => count), patient).toEqual([2]);
    await set("resume");
    // Their first receive was nobody's attempt.
    await expect.poll(() => Object.fromEntries(attempts), patient).toEqual({ long: 1, a: 1, b: 1 });
    finish();
  });
});

test("what a busy worker could not end is handled again", async () => {
  const kind = { of: "messages that cannot be ended", cut, statement: claim } as const;
  const { parts, send, attempts, finish } = busyWorker(kind);
  const ask = (text: string) =>
    kit.platform.database.transaction((tx) => tx.client.query(text.replaceAll("tuntas.", `${kit.schema}.`)));
  await ask(`create function tuntas.refuse() returns trigger language plpgsql as
    $$ begin raise exception 'no failure can be written'; end $$`);
  await ask(
    "create trigger refuse before insert on tuntas.failure for each row execute function tuntas.refuse()",
  );
  await using _running = await start(app(parts), { platform });
  await send("long");
  await send("fails once");
  await expect.poll(() => attempts.has("fails once"), patient).toBe(true);
  attempts.delete("fails once");
  await expect.poll(() => attempts.get("fails once"), patient).toBe(1);
  await ask("drop trigger refuse on tuntas.failure");
  finish();
});

test("what a receive got is answered, though its second look failed", async () => {
  const { catalog, sender, receiver } = platform.queues;
  await catalog.create(scope, "dead", {});
  const { queue: of } = await catalog.create(scope, "looks", { deadLetterName: "dead", receivesMax: 1 });
  const send = (body: string) =>
    sender.send(of, { messageId: crypto.randomUUID(), body }, "tests").then(() => body);
  const receive = (countMax: number, visibilitySeconds: number) =>
    receiver.receive(of, { countMax, waitMs: 0, visibilitySeconds });
  await send("spent");
  await receive(1, 0);
  await send("fresh");
  // A claim that a dead letter was part of looks again.
  const cut = new Promise<void>((struck) =>
    once("tuntas.queue.dead", () => void wire.cutNext("after commit", claim).then(struck)),
  );
  expect(await receive(2, 3600)).toMatchObject([{ body: "fresh" }]);
  await cut;
});

test("what a receive with an attempt id got is given again under that id", async () => {
  const { queue: of } = await platform.queues.catalog.create(scope, "attempts.fifo", {});
  const message = { messageId: crypto.randomUUID(), body: "x", groupId: "g", deduplicationId: "d" };
  await platform.queues.sender.send(of, message, "tests");
  const receive = () =>
    platform.queues.receiver.receive(of, {
      countMax: 1,
      waitMs: 0,
      visibilitySeconds: 3600,
      attemptId: "a",
    });
  wire.cutNext("after commit", claimInGroups);
  await expect(receive()).rejects.toMatchObject({ code: "TUNTAS_DATABASE_UNREACHABLE" });
  expect(await receive()).toMatchObject([{ messageId: message.messageId, receives: 1 }]);
});

test("what a relay has claimed is published", async () => {
  const target = { kind: "function", name: "lost" };
  const got: string[] = [];
  platform.targets.bind(target, { deliver: async ({ payload }) => void got.push(payload) });
  const cut = wire.cutNext("after commit", /update \S+\.outbox o set claimed_by/);
  for (const payload of ["1", "2"])
    await kit.platform.database.transaction((tx) => add(tx, { target, key: "k", payload }));
  await cut;
  await expect.poll(() => got, patient).toEqual(["1", "2"]);
});

async function begin(name: string, definition: object): Promise<string> {
  const { machines, executions } = kit.platform.workflows;
  const roleArn = "arn:aws:iam::000000000000:role/tests";
  const made = { name, type: "STANDARD" as const, definition: JSON.stringify(definition), roleArn, tags: {} };
  await machines.create(scope, { ...made, publish: false });
  const target = { machine: (await machines.find(scope, name))!, versionArn: null, aliasArn: null };
  return (await executions.start({ target, name: "one", input: "{}" })).arn;
}

test("what was claimed of an activity's tasks is offered to workers again", async () => {
  const { activities } = platform.workflows;
  const { arn } = await activities.create(scope, "lost", { tags: {} });
  wire.cutNext("after commit", /where activity_arn = \$1 and owner_id is null/);
  await begin("asking", { StartAt: "Ask", States: { Ask: { Type: "Task", Resource: arn, End: true } } });
  await expect(activities.task(arn, { waitMs: 0 })).rejects.toMatchObject({
    code: "TUNTAS_DATABASE_UNREACHABLE",
  });
  expect(await activities.task(arn, { waitMs: 40_000 })).toMatchObject({ input: "{}" });
});

test("what was claimed of the tasks of an application's handlers is carried out", async () => {
  const definition = { StartAt: "Do", States: { Do: { Type: "Task", Resource: "act", End: true } } } as const;
  const declared = workflow("handled", { definition, tasks: { act: () => "acted" } });
  await (await start(app({ declared }), { platform })).stop();
  const { machines, executions } = kit.platform.workflows;
  const target = { machine: (await machines.find(scope, "handled"))!, versionArn: null, aliasArn: null };
  const { arn } = await executions.start({ target, name: "one", input: "{}" });
  const cut = wire.cutNext("after commit", /where pool = any\(\$1::bigint\[\]\) and owner_id is null/);
  await using _running = await start(app({ declared }), { platform });
  await cut;
  await expect.poll(async () => (await executions.find(arn))!.status, patient).toBe("SUCCEEDED");
});

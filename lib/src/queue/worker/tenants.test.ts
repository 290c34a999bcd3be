import type { ChildProcess } from "node:child_process";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { forkReady } from "../../engine/child.fixture.ts";
import { app, poison, queue, start, worker } from "../../index.ts";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import { defaultScope } from "../contract.ts";
import { readyKey } from "../client/context.ts";
import {
  makeTenanted,
  pagesTouched,
  putBacklog,
  workTenanted,
  type Document,
  type Options,
  type Tenanted,
} from "./tenanted.fixture.ts";
import { makeTenants } from "./tenants.ts";
import { ask, freshName, gate, watch } from "./worker.fixture.ts";

let kit: TestPlatform;
const children: ChildProcess[] = [];
beforeAll(async () => void (kit = await testPlatform()));
afterAll(() => kit[Symbol.asyncDispose]());
afterEach(() => children.splice(0).forEach((child) => child.kill("SIGKILL")));

const work = (of: Tenanted, options: Options) => workTenanted(kit.platform, of, options);
const made = (of?: Tenanted) => makeTenanted(kit.platform, of);
const backlog = (name: string, tenant: string, count: number, group: string | null = tenant) =>
  putBacklog(kit.platform, { name, tenant, count, group });

const pagesOf = (text: string, queueId: number) => pagesTouched(kit, text, queueId);

const tally = (of: readonly { readonly tenant?: string }[]) => {
  const counts: Record<string, number> = {};
  for (const { tenant } of of) counts[tenant!] = (counts[tenant!] ?? 0) + 1;
  return counts;
};

test("N-05 N-06 behind 10,000 of A, which stands at its cap, B's first is served at once, and a claim touches few pages", async () => {
  const of = await made();
  await backlog(of.name, "A", 10_000);
  const hold = gate();
  const begun: string[] = [];
  const started = gate();
  await using it = await work(of, {
    concurrency: 8,
    tenants: { concurrency: 2 },
    async handle({ tenant }) {
      begun.push(tenant);
      if (begun.length === 2) started.open();
      if (tenant === "A") await hold.promise;
    },
  });
  await started.promise;
  const sentAt = performance.now();
  await using sender = await start(app({ of }), { platform: kit.platform, workers: false });
  await of.send({ id: "b", tenant: "B" });
  await it.attempts.until(1);
  console.log(`B's first was done ${Math.round(performance.now() - sentAt)} ms after it was sent`);
  expect(it.attempts.seen[0]).toMatchObject({ tenant: "B", outcome: "done" });
  expect(tally(begun.map((tenant) => ({ tenant })))).toEqual({ A: 2, B: 1 });
  // Nobody's attempt was used up by waiting.
  expect(
    await ask(kit.platform, "select max(receives) from tuntas.ready where queue_id = $1", [it.record.id]),
  ).toEqual([{ max: 0 }]);
  const pages = await pagesOf(
    "select * from tuntas.claim_tenants($1, 8, 1, 1, false, '{null}', '{2}', '{null}', 5)",
    it.record.id,
  );
  console.log(`a claim that finds A at its cap touches ${pages} pages`);
  expect(pages).toBeLessThan(50);
  const { inspector } = kit.platform.queues;
  const [waiting] = await inspector.peek(it.record, 1);
  const { reasons } = (await inspector.explain(waiting!.messageId))!;
  expect(reasons[0]).toMatchObject({ code: "TENANT_CAP_REACHED", text: expect.stringContaining("tenant A") });
  expect(await inspector.tenants(it.record, 3)).toMatchObject([
    { tenant: "A", ready: 9998, inFlight: 2, standsUntilMs: null },
  ]);
  hold.open();
  expect(sender).toBeDefined();
});

test("N-06 the peak of each tenant stays at its cap over two processes, one of which is killed in the middle", async () => {
  const of = await made();
  const options = {
    databaseUrl: kit.databaseUrl,
    schema: kit.schema,
    name: of.name,
    tenants: { concurrency: 3, only: { premium: { concurrency: 6 } } },
  };
  for (const tenant of ["A", "B", "premium"]) await backlog(of.name, tenant, 500);
  await ask(kit.platform, "create table tuntas.peak (tenant text, held bigint)");
  await ask(
    kit.platform,
    `create function tuntas.note_peak() returns trigger language plpgsql as $$ begin
       insert into tuntas.peak select f.group_id, count(*) from tuntas.in_flight f where f.group_id in (select n.group_id from new n) group by 1;
       return null; end $$`,
  );
  await ask(
    kit.platform,
    "create trigger note_peak after insert on tuntas.in_flight referencing new table as new for each statement execute function tuntas.note_peak()",
  );
  const spawn = async () => {
    const { child, told } = await forkReady(new URL("tenants.fixture.mjs", import.meta.url), options);
    children.push(child);
    return { child, told };
  };
  const [first, second] = await Promise.all([spawn(), spawn()]);
  // Which of them gets most is not said: on a busy machine one had done all but 18 of 360.
  await Promise.all([first.told(({ done }) => done >= 1), second.told(({ done }) => done >= 1)]);
  first.child.kill("SIGKILL");
  await second.told(({ empty }) => empty);
  const peaks = await ask(
    kit.platform,
    "select tenant, max(held)::int as held from tuntas.peak group by 1 order by 1",
  );
  await ask(kit.platform, "drop trigger note_peak on tuntas.in_flight");
  expect(peaks).toEqual([
    { tenant: "A", held: 3 },
    { tenant: "B", held: 3 },
    { tenant: "premium", held: 6 },
  ]);
});

test("N-07 N-11 where A's downstream fails only A stands still, costs few attempts, and goes on after a trial", async () => {
  const of = await made();
  const [stopped, resumed] = [watch("tenant.stopped"), watch("tenant.resumed")];
  let isDown = true;
  await using it = await work(of, {
    concurrency: 4,
    tenants: { concurrency: 1, breaker: { failures: 3, standstill: "500ms" } },
    handle({ tenant }: Document) {
      if (tenant === "A" && isDown) throw new Error("connect ECONNREFUSED");
    },
  });
  await backlog(of.name, "A", 20);
  await stopped.until(1);
  await backlog(of.name, "B", 200);
  await backlog(of.name, "C", 50);
  await resumedAfter();
  async function resumedAfter() {
    const healthy = () =>
      it.attempts.seen.filter(({ tenant, outcome }) => tenant !== "A" && outcome === "done").length;
    while (healthy() < 250) await it.attempts.until(it.attempts.seen.length + 1);
    isDown = false;
    await resumed.until(1);
  }
  expect(new Set(stopped.seen.map(({ tenant }) => tenant))).toEqual(new Set(["A"]));
  expect(resumed.seen).toMatchObject([{ tenant: "A", queue: of.name }]);
  const failed = it.attempts.seen.filter(({ outcome }) => outcome === "retry");
  expect(new Set(failed.map(({ tenant }) => tenant))).toEqual(new Set(["A"]));
  // Three until it opened, and one for each trial.
  expect(failed.length).toBe(2 + stopped.seen.length);
  stopped.close();
  resumed.close();
});

test("N-11 a storm of poison in A leaves B's success as it is, and opens no breaker", async () => {
  const of = await made();
  const stopped = watch("tenant.stopped", ({ queue }) => queue === of.name);
  await backlog(of.name, "A", 300);
  await backlog(of.name, "B", 100);
  await using it = await work(of, {
    tenants: { concurrency: 2, breaker: { failures: 3, standstill: "1s" } },
    handle({ tenant }: Document) {
      if (tenant === "A") throw poison({ code: "BAD_PAGE" });
    },
  });
  await it.attempts.until(400);
  const ended = (outcome: string) =>
    tally(it.attempts.seen.filter((attempt) => attempt.outcome === outcome) as never);
  expect(ended("poison")).toEqual({ A: 300 });
  expect(ended("done")).toEqual({ B: 100 });
  // Served side by side: B was done long before A's storm was over.
  const lastOfB = it.attempts.seen.findLastIndex(({ tenant }) => tenant === "B");
  expect(lastOfB).toBeLessThan(300);
  expect(stopped.seen).toEqual([]);
  stopped.close();
});

test("N-08 tenants of very uneven backlogs are served alike: Jain's index of the first 400 is at least 0.95", async () => {
  const of = await made();
  for (const [index, tenant] of [..."ABCDEFGH"].entries())
    await backlog(of.name, tenant, 60 + 2 ** index * 5);
  await using it = await work(of, { tenants: {} });
  await it.attempts.until(400);
  const counts = Object.values(tally(it.attempts.seen.slice(0, 400) as never));
  const sum = counts.reduce((a, b) => a + b, 0);
  const index = sum ** 2 / (8 * counts.reduce((a, b) => a + b * b, 0));
  console.log(`Jain's index ${index.toFixed(3)} of ${counts.join(" ")}`);
  expect(index).toBeGreaterThanOrEqual(0.95);
});

test("a rate holds for a tenant, and what has no group, or another's, is put into its own first", async () => {
  const of = await made();
  await backlog(of.name, "A", 5, null);
  await backlog(of.name, "A", 5, "other");
  await backlog(of.name, "A", 10);
  const startedAt = performance.now();
  await using it = await work(of, { tenants: { perSecond: 20 } });
  await it.attempts.until(20);
  const tookMs = performance.now() - startedAt;
  expect(tally(it.attempts.seen as never)).toEqual({ A: 20 });
  expect(it.attempts.seen.every(({ attempt }) => attempt === 1)).toBe(true);
  expect(tookMs).toBeGreaterThan((20 - 2) * 50);
});

test("a tenant's next is given out when its rate says so, though those before it still run, and at once where a slower rate was before", async () => {
  const of = await made();
  await backlog(of.name, "A", 6);
  await ask(
    kit.platform,
    "insert into tuntas.tenant (queue_id, tenant, next_at, changed_at) select id, 'A', tuntas.now() + interval '1 day', tuntas.now() from tuntas.queue where name = $1",
    [of.name],
  );
  const [hold, allBegun] = [gate(), gate()];
  let begun = 0;
  await using _ = await work(of, {
    tenants: { perSecond: 20 },
    async handle() {
      if (++begun === 6) allBegun.open();
      await hold.promise;
    },
  });
  await allBegun.promise;
  hold.open();
});

test("what comes without a group just after a look, or with an empty one, is found soon all the same", async () => {
  const of = await made();
  await using it = await work(of, { tenants: { concurrency: 2 } });
  for (let sent = 1; sent <= 20; sent++) {
    await backlog(of.name, "A", 1, sent % 2 === 0 ? "" : null);
    kit.platform.waker.wake(readyKey(it.record.id));
    await it.attempts.until(sent);
  }
  expect(tally(it.attempts.seen as never)).toEqual({ A: 20 });
});

test("while more tenants stand still than a claim looks at, looking costs a tenth of the time", async () => {
  const of = await made();
  const { platform } = kit;
  await ask(
    platform,
    `with q as (select id from tuntas.queue where name = $1), t as (
       insert into tuntas.tenant (queue_id, tenant, failures, open_until, changed_at)
       select q.id, 't' || n, 5, tuntas.now() + interval '1 hour', tuntas.now() from q, generate_series(1, 1500) n returning queue_id, tenant)
     insert into tuntas.ready (queue_id, id, sent_at, group_id) select queue_id, nextval('tuntas.message_id_seq'), tuntas.now(), tenant from t`,
    [of.name],
  );
  const queue = await platform.queues.catalog.get(defaultScope, of.name);
  const context = { ...platform, announce: () => undefined };
  const parts = { context, log: platform.log, queue };
  const tenants = makeTenants(parts, { breaker: { failures: 5, standstill: "1h" } });
  const request = { count: 8, ownerId: platform.processId() };
  const claim = () => tenants.claim(platform.database, request);
  expect((await claim()).messages).toEqual([]);
  expect(tenants.restMs()).toBe(5); // goes on behind the first thousand
  for (let time = 0; time < 10; time++) await claim();
  const restToLook = async () => {
    const begunAt = performance.now();
    await claim();
    return tenants.restMs() / (performance.now() - begunAt);
  };
  // Ten of its own time, of which this process may have lost some before it looked at the clock.
  await expect.poll(restToLook).toBeGreaterThan(8);
  await ask(platform, "delete from tuntas.ready where queue_id = $1", [queue.id]);
});

test("N-01 a sender cannot put a message into another tenant's group, and limits need a boundary", async () => {
  const of = await made();
  await using running = await start(app({ of }), { platform: kit.platform });
  await expect(of.send({ id: "1", tenant: "A" }, { groupId: "B" })).rejects.toMatchObject({
    code: "TUNTAS_MESSAGE_GROUP",
  });
  await expect(of.send({ id: "1", tenant: "" })).rejects.toMatchObject({ code: "TUNTAS_MESSAGE_GROUP" });
  await of.send({ id: "1", tenant: "A" });
  const [message] = await running.platform.queues.inspector.peek(
    await running.platform.queues.catalog.get(defaultScope, of.name),
    1,
  );
  expect(message).toMatchObject({ groupId: "A" });
  const { tenant: _, ...without } = of.options;
  const plain = queue(freshName(), without);
  const options = { idempotencyKey: "none", timeout: "1s", handle: () => undefined } as const;
  expect(() => worker(plain, { ...options, tenants: { concurrency: 1 } })).toThrow(
    /declare tenant on the queue/,
  );
  expect(() => worker(of, { ...options, tenants: { concurrency: 0 } })).toThrow(
    /tenants.concurrency from 1 to 1000/,
  );
  expect(() => queue(`${freshName()}.fifo`, of.options)).toThrow(/standard queues/);
});

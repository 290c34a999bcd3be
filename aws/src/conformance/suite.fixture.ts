// What a worker's users rely on, wherever its queue lives: the same declarations, the same handlers, the same assertions,
// for each tier. Two files run it, postgresql.test.ts and sqs.test.ts.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { poison, rejected, retry, unknown } from "tuntas";
import { defaultScope } from "tuntas/queue";
import { makePrometheus } from "tuntas/measure";
import { ask } from "./ask.fixture.ts";
import type { Place, Tier } from "./place.fixture.ts";
import { effects, freshName, gate, insert, senderOf, spawn, work } from "./work.fixture.ts";

export function conformance(tier: Tier): void {
  describe(`W-40 a worker on ${tier.name}`, { timeout: 240_000 }, () => suite(tier));
}

/** Waits until nothing of the queue is left where it lives. */
const untilEmpty = (place: Place, name: string) =>
  expect.poll(() => place.depth(name), { timeout: 120_000 }).toMatchObject({ waiting: 0 });

function suite(tier: Tier): void {
  let place: Place;
  const children: { kill(signal: "SIGKILL"): unknown }[] = [];
  beforeAll(async () => {
    place = await tier.open();
    await ask(place.kit, "create table tuntas.effect (id text not null, who text)");
  }, 240_000);
  afterAll(() => place[Symbol.asyncDispose](), 240_000);
  beforeEach(() => ask(place.kit, "truncate tuntas.effect"));
  afterEach(() => children.splice(0).forEach((child) => child.kill("SIGKILL")));

  const record = (name: string) => place.kit.platform.queues.catalog.get(defaultScope, name);
  const begin = async (name: string) => {
    const made = await spawn(place, name);
    children.push(made.child);
    return made;
  };

  test("W-01 W-03 Q-01 all that is sent is done once, and gone", async () => {
    await using it = await work(place, { handle: insert(place) });
    const ids = Array.from({ length: 45 }, (_, index) => `m${String(index).padStart(2, "0")}`);
    const sent = await Promise.all(ids.map((id) => it.queue.send({ id })));
    expect(new Set(sent.map(({ messageId }) => messageId)).size).toBe(45);
    await it.attempts.until(45);
    expect(await effects(place)).toEqual(ids);
    await untilEmpty(place, it.queue.name);
    expect(new Set(it.attempts.outcomes())).toEqual(new Set(["done"]));
  });

  test("W-02 W-03 W-20 the effect and its record are there when the end is announced, and neither before", async () => {
    const state = async () => {
      const [row] = await ask(
        place.kit,
        "select (select count(*)::int from tuntas.effect) as effects, (select count(*)::int from tuntas.command where key = 'steps') as records",
      );
      return row;
    };
    const inside = gate<object>();
    await using it = await work(place, {
      async handle(message, context) {
        await insert(place)(message, context);
        inside.open(await state());
      },
    });
    await it.queue.send({ id: "steps" }, { correlationId: "c-1" });
    expect(await inside.promise).toEqual({ effects: 0, records: 0 });
    await it.attempts.until(1);
    expect(await state()).toEqual({ effects: 1, records: 1 });
    expect(it.attempts.seen[0]).toMatchObject({ outcome: "done", attempt: 1, correlationId: "c-1" });
  });

  test("W-04 W-13 one key, one effect: copies are acknowledged as duplicates", async () => {
    await using it = await work(place, { handle: insert(place) });
    await it.queue.send({ id: "same" });
    await it.attempts.until(1);
    await Promise.all([1, 2, 3].map(() => it.queue.send({ id: "same" })));
    await it.attempts.until(4);
    expect(it.attempts.outcomes()).toEqual(["done", "duplicate", "duplicate", "duplicate"]);
    expect(await effects(place)).toEqual(["same"]);
    await untilEmpty(place, it.queue.name);
  });

  test("W-13 copies that are handled side by side have one effect", async () => {
    await using it = await work(place, { handle: insert(place), backoff: { base: "1s", max: "1s" } });
    await Promise.all([1, 2, 3, 4].map(() => it.queue.send({ id: "beside" })));
    await untilEmpty(place, it.queue.name);
    expect(await effects(place)).toEqual(["beside"]);
  });

  test("ctx.write: what was handed over commits once, with the end, and not at all where a statement fails", async () => {
    const text = `insert into ${place.kit.schema}.effect values ($1, 'written')`;
    await using written = await work(place, {
      backoff: { base: "1s", max: "1s" },
      handle({ id }, context) {
        context.write(text, [id]);
        if (id === "bad" && context.attempt === 1) context.write("select 1 / 0");
      },
    });
    await Promise.all(["good", "bad"].map((id) => written.queue.send({ id })));
    await written.attempts.until(3);
    expect(written.attempts.outcomes().toSorted()).toEqual(["done", "done", "retry"]);
    expect(await effects(place)).toEqual(["bad", "good"]);
    await untilEmpty(place, written.queue.name);
  });

  test("W-05 Q-12 a retry comes back after its backoff, counted, with one effect in the end", async () => {
    const begun: number[] = [];
    await using it = await work(place, {
      backoff: { base: "2s", max: "2s" },
      async handle(message, context) {
        begun.push(performance.now());
        await insert(place)(message, context);
        if (context.attempt === 1) throw new Error("the partner is away");
      },
    });
    await it.queue.send({ id: "again" });
    await it.attempts.until(2);
    expect(it.attempts.seen.map(({ outcome, attempt }) => [outcome, attempt])).toEqual([
      ["retry", 1],
      ["done", 2],
    ]);
    expect(begun[1]! - begun[0]!).toBeGreaterThan(900);
    expect(await effects(place)).toEqual(["again"]);
  });

  test("W-08 Q-03 received as often as declared without success, it lies in the dead-letter queue", async () => {
    await using it = await work(
      place,
      { backoff: { base: "1ms", max: "1ms" }, handle: () => Promise.reject(new Error("never")) },
      { after: 2 },
    );
    await it.queue.send({ id: "dies" });
    await expect
      .poll(() => place.depth(it.queue.name), { timeout: 120_000 })
      .toEqual({ waiting: 0, dead: ['{"id":"dies"}'] });
    expect(it.attempts.seen.map(({ outcome, attempt }) => [outcome, attempt])).toEqual([
      ["retry", 1],
      ["retry", 2],
    ]);
  });

  test("W-09 a business no is on record with its reason after one receive", async () => {
    await using it = await work(place, {
      handle: () => rejected({ code: "CREDIT_LIMIT", message: "over it" }),
    });
    const { messageId } = await it.queue.send({ id: "no" });
    await it.attempts.until(1);
    await untilEmpty(place, it.queue.name);
    expect(
      await ask(place.kit, "select code, reason, receives from tuntas.rejection where message_id = $1", [
        messageId,
      ]),
    ).toEqual([{ code: "CREDIT_LIMIT", reason: "over it", receives: 1 }]);
  });

  test("W-06 W-07 W-10 W-11 W-15 poison is put aside with its body and its reason, and harms no batch mate", async () => {
    await using it = await work(place, { handle: insert(place) }, { poison: "quarantine" });
    await Promise.all([
      ...["a", "b", "c"].map((id) => it.queue.send({ id })),
      place.sendText(it.queue.name, "{broken"),
      place.sendText(it.queue.name, '{"id":7}'),
      place.sendText(it.queue.name, '{"id":""}'),
    ]);
    await it.attempts.until(6);
    expect(await effects(place)).toEqual(["a", "b", "c"]);
    const { id } = await record(it.queue.name);
    const aside = await ask(
      place.kit,
      "select body, code, outcome from tuntas.quarantine where queue_id = $1 order by body",
      [id],
    );
    expect(aside).toEqual([
      { body: '{"id":""}', code: "TUNTAS_KEY_MISSING", outcome: "poison" },
      { body: '{"id":7}', code: "TUNTAS_MESSAGE_INVALID", outcome: "poison" },
      { body: "{broken", code: "TUNTAS_MESSAGE_JSON", outcome: "poison" },
    ]);
    await untilEmpty(place, it.queue.name);
  });

  test("W-06 poison that its queue lets exhaust goes to the dead-letter queue", async () => {
    await using it = await work(place, { handle: () => poison({ code: "BAD" }) }, { after: 2 });
    await it.queue.send({ id: "exhausts" });
    await expect
      .poll(() => place.depth(it.queue.name), { timeout: 120_000 })
      .toEqual({ waiting: 0, dead: ['{"id":"exhausts"}'] });
  });

  test("W-36 a version that nobody declared is poison", async () => {
    await using it = await work(place, { handle: insert(place) }, { poison: "quarantine", versions: [1] });
    await place.sendText(it.queue.name, '{"id":"v","version":99}');
    await it.attempts.until(1);
    expect(it.attempts.outcomes()).toEqual(["poison"]);
    await untilEmpty(place, it.queue.name);
  });

  test("an effect of which nobody can say whether it took place waits for a person", async () => {
    await using it = await work(place, { handle: () => unknown({ code: "NO_ANSWER" }) });
    const { messageId } = await it.queue.send({ id: "who-knows" });
    await it.attempts.until(1);
    await untilEmpty(place, it.queue.name);
    expect(
      await ask(place.kit, "select outcome, code, body from tuntas.quarantine where message_id = $1", [
        messageId,
      ]),
    ).toEqual([{ outcome: "unknown", code: "NO_ANSWER", body: '{"id":"who-knows"}' }]);
  });

  test("W-22 a handler that takes longer than a lease, and what waits behind it, are received once", async () => {
    await using it = await work(place, {
      concurrency: 1,
      async handle(message, context) {
        await insert(place)(message, context);
        await sleep(message.id === "long" ? 2.5 * 6000 : 0);
      },
    });
    await it.queue.send({ id: "long" });
    await it.queue.send({ id: "waits" });
    await it.attempts.until(2);
    expect(it.attempts.seen.map(({ outcome, attempt }) => [outcome, attempt])).toEqual([
      ["done", 1],
      ["done", 1],
    ]);
    expect(await effects(place)).toEqual(["long", "waits"]);
  });

  test("W-16 kill -9 before the commit: handled again, with one effect", async () => {
    const name = freshName();
    const { child, told, exited } = await begin(name);
    await using sender = await senderOf(place, name);
    await sender.send("hold-1");
    await told(({ begun }) => begun === "hold-1");
    child.kill("SIGKILL");
    await exited;
    await using second = await work(place, { handle: insert(place, "parent") }, { name });
    await second.attempts.until(1);
    expect(second.attempts.outcomes()).toEqual(["done"]);
    expect(await effects(place)).toEqual(["hold-1"]);
    await untilEmpty(place, name);
  });

  test("W-16 kill -9 after the commit, before anything else: one effect, and the message goes", async () => {
    const name = freshName();
    const { exited } = await begin(name);
    await using sender = await senderOf(place, name);
    await sender.send("commits");
    await exited;
    await using it = await work(place, { handle: insert(place, "parent") }, { name });
    await untilEmpty(place, name);
    expect(await ask(place.kit, "select id, who from tuntas.effect")).toEqual([
      { id: "commits", who: "child" },
    ]);
    expect(it.attempts.outcomes().filter((outcome) => outcome !== "duplicate")).toEqual([]);
  });

  test("W-26 law 2: whoever has lost his claim commits nothing, aloud; the next owner does", async () => {
    const [first, second, go] = [gate(), gate(), gate()];
    await using it = await work(place, {
      idempotencyKey: "none",
      concurrency: 2,
      async handle({ id }, { tx, attempt }) {
        await tx.query(`insert into ${place.kit.schema}.effect values ($1, $2)`, [`${id}-${attempt}`, "owner"]);
        if (attempt > 1) return second.open();
        first.open();
        await go.promise;
      },
    });
    await it.queue.send({ id: "robbed" });
    await first.promise;
    await place.rob(it.queue.name);
    await second.promise;
    await it.attempts.until(1);
    go.open();
    await expect.poll(() => it.app.active().reduce((sum, { running }) => sum + running, 0)).toBe(0);
    await untilEmpty(place, it.queue.name);
    await it.app.stop();
    expect(it.attempts.seen.map(({ outcome, attempt }) => [outcome, attempt])).toEqual([["done", 2]]);
    expect(await effects(place)).toEqual(["robbed-2"]);
  });

  test("Q-21 a FIFO group stands still behind the message that failed, and no other group does", async () => {
    const seen: string[] = [];
    const other = gate();
    await using it = await work(
      place,
      {
        backoff: { base: "1s", max: "1s" },
        async handle({ id }, { attempt, groupId }) {
          seen.push(id);
          if (groupId === "b") return other.open();
          if (id !== "a1" || attempt > 1) return undefined;
          await other.promise;
          return retry({ code: "AWAY" });
        },
      },
      { name: freshName(".fifo"), contentDeduplication: true },
    );
    for (const [id, groupId] of [["a1", "a"], ["a2", "a"], ["a3", "a"], ["b1", "b"]] as const)
      await it.queue.send({ id }, { groupId });
    await it.attempts.until(5);
    expect(seen.filter((id) => id.startsWith("a"))).toEqual(["a1", "a1", "a2", "a3"]);
    expect(it.attempts.seen.filter(({ attempt }) => attempt > 1)).toHaveLength(1);
    await untilEmpty(place, it.queue.name);
  });

  test("W-32 U-02 stopping: what runs ends, what waits goes back and is handled elsewhere, all once", async () => {
    const [begun, go] = [gate(), gate()];
    const name = freshName();
    const ids = ["s0", "s1", "s2", "s3"];
    const it = await work(
      place,
      {
        concurrency: 1,
        async handle(message, context) {
          begun.open();
          await go.promise;
          await insert(place)(message, context);
        },
      },
      { name },
    );
    await Promise.all(ids.map((id) => it.queue.send({ id })));
    await begun.promise;
    const stopped = it.app.stop();
    await expect.poll(() => it.app.active().reduce((sum, { buffered }) => sum + buffered, 0)).toBe(0);
    go.open();
    await stopped;
    it.attempts.close();
    expect(it.attempts.outcomes()).toEqual(["done"]);
    await using next = await work(place, { handle: insert(place) }, { name });
    await next.attempts.until(3);
    expect(await effects(place)).toEqual(ids);
    await untilEmpty(place, name);
  });

  test("Q-24 a paused queue gives its workers nothing until it is resumed", async () => {
    await using it = await work(place, { handle: insert(place) });
    const { catalog } = place.kit.platform.queues;
    await catalog.pause(await record(it.queue.name), "ana", "the partner is away");
    await it.queue.send({ id: "paused" });
    await sleep(3000);
    expect(it.attempts.seen).toEqual([]);
    await catalog.resume(await record(it.queue.name), "ana", "a test");
    await it.attempts.until(1);
    expect(it.attempts.seen).toMatchObject([{ outcome: "done" }]);
  });

  test("a send in a transaction is there with its commit, and not without it", async () => {
    await using it = await work(place, { handle: insert(place) });
    const { database } = place.kit.platform;
    await database
      .transaction(async ({ client }) => {
        await it.queue.send({ id: "undone" }, { tx: client });
        throw new Error("undo");
      })
      .catch(() => undefined);
    await database.transaction(async ({ client }) => {
      await it.queue.send({ id: "kept" }, { tx: client, correlationId: "c-2" });
    });
    await it.attempts.until(1);
    await untilEmpty(place, it.queue.name);
    expect(await effects(place)).toEqual(["kept"]);
    expect(it.attempts.seen[0]).toMatchObject({ correlationId: "c-2" });
  });

  test("attributes, group and time of a message are what its sender gave", async () => {
    const got = gate<unknown>();
    await using it = await work(place, {
      handle: (_, { attributes, groupId, attempt }) => got.open({ attributes, groupId, attempt }),
    });
    await it.queue.send({ id: "x" }, { groupId: "tenant-1", attributes: { kind: "test" } });
    expect(await got.promise).toEqual({ attributes: { kind: "test" }, groupId: "tenant-1", attempt: 1 });
  });

  test("V-05 the metrics have the same names, and say what happened", async () => {
    const { database, tally } = place.kit.platform;
    const prometheus = makePrometheus({ database, tally });
    await using it = await work(place, {
      backoff: { base: "1s", max: "1s" },
      handle: (_, { attempt }) => (attempt === 1 ? retry({ code: "AWAY" }) : undefined),
    });
    await it.queue.send({ id: "counted" });
    await it.attempts.until(2);
    const text = await prometheus.render();
    prometheus.close();
    const labels = (more: string) => `queue="${it.queue.name}",${more}`;
    for (const line of [
      `tuntas_worker_attempts_total{${labels('outcome="done"')}} 1`,
      `tuntas_worker_attempts_total{${labels('outcome="retry"')}} 1`,
      `tuntas_worker_retryable_failures_total{${labels('code="AWAY"')}} 1`,
      `tuntas_queue_messages_total{${labels('event="sent"')}} 1`,
      `tuntas_queue_messages_total{${labels('event="received"')}} 2`,
    ])
      expect(text).toContain(line);
  });
}

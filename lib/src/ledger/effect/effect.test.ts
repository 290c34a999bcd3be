import { afterAll, beforeAll, expect, test } from "vitest";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import type { Duration } from "../../core/duration.ts";
import type { Finding } from "./contract.ts";
import { refusal } from "./contract.ts";
import { effect, type EffectOptions } from "./effect.ts";
import { provider } from "./provider.ts";
import { settleByHand } from "../operator.ts";
import { assertRedrivable, reconcileEffects } from "./reconcile.ts";
import { unknownEffects } from "./store.ts";

let kit: TestPlatform;
beforeAll(async () => void (kit = await testPlatform()));
afterAll(() => kit[Symbol.asyncDispose]());

const fail = (cause: unknown) => {
  throw cause;
};

/** A provider that remembers what it did, and can be made to fall silent. */
function bank(
  name: string,
  finding: (calls: number) => Finding = () => ({ state: "unknown" }),
  options: { callsPerSecond?: number; timeout?: Duration } = {},
) {
  const made: string[] = [];
  const declared = provider({
    name,
    timeout: "300ms",
    arrivesWithin: "300ms",
    reconcile: { charge: async () => finding(made.length) },
    ...options,
  });
  const order = (
    key: string,
    more: Partial<EffectOptions<{ receipt: string }>> = {},
  ): EffectOptions<{ receipt: string }> => ({
    provider: declared,
    operation: "charge",
    key,
    request: { amount: 5 },
    reference: ({ receipt }) => receipt,
    ...more,
  });
  const charge = async ({ key }: { key: string }) => {
    made.push(key);
    return { receipt: `r-${key}` };
  };
  const silent = async ({ key }: { key: string }): Promise<never> => {
    made.push(key);
    return new Promise(() => undefined);
  };
  return { made, declared, order, charge, silent };
}

const context = () => ({ database: kit.platform.database });

async function rowOf(key: string) {
  const client = await kit.platform.database.handlerClient();
  const { rows } = await client.query(
    `select state, final, calls, reference, response, settled_by from ${kit.schema}.side_effect where key = $1`,
    [key],
  );
  client.release();
  return rows[0];
}

test("G-15 G-16 the intent is committed before the call, the answer after it, and a repeat gets the answer", async () => {
  const { made, order, charge } = bank("plain");
  let during: unknown;
  const first = await effect(context(), order("a"), async (options) => {
    during = await rowOf("a");
    return charge(options);
  });
  expect(during).toMatchObject({ state: "pending", response: null });
  expect(first).toEqual({ status: "created", response: { receipt: "r-a" }, reference: "r-a" });
  expect(await rowOf("a")).toMatchObject({ state: "succeeded", reference: "r-a", calls: 1 });
  expect(await effect(context(), order("a"), charge)).toEqual({ ...first, status: "duplicate" });
  expect(made).toEqual(["a"]);
});

test("G-06 G-15 another request under the key is a conflict, and no call", async () => {
  const { made, order, charge } = bank("conflict");
  await effect(context(), order("b"), charge);
  await expect(effect(context(), order("b", { request: { amount: 6 } }), charge)).rejects.toMatchObject({
    code: "TUNTAS_EFFECT_CONFLICT",
  });
  expect(made).toEqual(["b"]);
});

test("G-17 a call that times out is unknown, and is never made again blindly", async () => {
  const { made, order, charge, silent } = bank("silent");
  await expect(effect(context(), order("c"), silent)).rejects.toMatchObject({
    code: "TUNTAS_EFFECT_UNKNOWN",
    retryable: true,
  });
  expect(await rowOf("c")).toMatchObject({ state: "unknown" });
  await expect(effect(context(), order("c"), charge)).rejects.toMatchObject({
    code: "TUNTAS_EFFECT_UNKNOWN",
  });
  expect(made).toEqual(["c"]);
});

test("G-17 R-13 the provider settles an unknown call: what succeeded is recorded, the handler goes on", async () => {
  const { made, order, charge, silent } = bank("asked", () => ({
    state: "succeeded",
    response: { receipt: "r-d" },
    reference: "r-d",
  }));
  await effect(context(), order("d"), silent).catch(() => undefined);
  expect(await effect(context(), order("d"), charge)).toEqual({
    status: "duplicate",
    response: { receipt: "r-d" },
    reference: "r-d",
  });
  expect(await rowOf("d")).toMatchObject({ state: "succeeded", settled_by: "reconcile" });
  expect(made).toEqual(["d"]);
});

test("G-18 what the provider says never happened is called again, but not while the first request may still arrive", async () => {
  const { made, order, charge, silent } = bank("absent", () => ({ state: "absent" }));
  await effect(context(), order("e", { remainingMs: 50 }), silent).catch(() => undefined);
  await expect(effect(context(), order("e"), charge)).rejects.toMatchObject({
    code: "TUNTAS_EFFECT_UNKNOWN",
  });
  await kit.advance(1000);
  expect(await effect(context(), order("e"), charge)).toMatchObject({ status: "created" });
  expect(made).toEqual(["e", "e"]);
  expect(await rowOf("e")).toMatchObject({ calls: 2, state: "succeeded" });
});

test("idem-02 an owner that dies with zero, one or less time left does not hold the key for long", async () => {
  const { declared, order, charge } = bank("deadline", () => ({ state: "absent" }));
  for (const [index, remainingMs] of [0, 1, -5].entries()) {
    const key = `deadline-${index}`;
    await effect(context(), order(key, { remainingMs }), () => new Promise(() => undefined)).catch(
      () => undefined,
    );
    await kit.advance(60_000);
    expect(await effect(context(), order(key), charge)).toMatchObject({ status: "created" });
  }
  expect(declared.timeoutMs).toBe(300);
});

test("a refusal of the provider is final and stored; a call that never arrived is made again", async () => {
  const { made, order, charge } = bank("refusing");
  await expect(effect(context(), order("f"), () => fail(refusal("CARD_STOLEN", "no")))).rejects.toMatchObject(
    { code: "TUNTAS_EFFECT_REFUSED" },
  );
  await expect(effect(context(), order("f"), charge)).rejects.toMatchObject({
    code: "TUNTAS_EFFECT_REFUSED",
    details: { failureCode: "CARD_STOLEN" },
  });
  const unreached = Object.assign(new TypeError("fetch failed"), {
    cause: Object.assign(new Error("x"), { code: "ECONNREFUSED" }),
  });
  await expect(effect(context(), order("g"), () => fail(unreached))).rejects.toMatchObject({
    code: "TUNTAS_EFFECT_FAILED",
    retryable: true,
  });
  expect(await effect(context(), order("g"), charge)).toMatchObject({ status: "created" });
  expect(made).toEqual(["g"]);
});

test("G-16 of several callers at once one calls; the others are told to come back", async () => {
  // However long the machine takes, nobody finds the call unanswered.
  const { made, order, charge } = bank("crowd", undefined, { timeout: "1m" });
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => effect(context(), order("h"), charge).catch((cause: unknown) => cause)),
  );
  expect(made).toEqual(["h"]);
  for (const answer of answers) {
    expect(["created", "duplicate", "TUNTAS_EFFECT_IN_PROGRESS"]).toContain(
      (answer as { status?: string }).status ?? (answer as { code: string }).code,
    );
  }
});

test("G-19 P-12 inside an open transaction the call is refused", async () => {
  const { made, order, charge } = bank("inside");
  await expect(effect({ ...context(), transactionOpen: true }, order("i"), charge)).rejects.toMatchObject({
    code: "TUNTAS_EFFECT_IN_TRANSACTION",
  });
  expect(made).toEqual([]);
});

test("the breaker stops calls before an intent is written, and the rate limit spreads or refuses them", async () => {
  const { order, charge } = bank("broken");
  const down = Object.assign(new Error("down"), { code: "ECONNREFUSED" });
  for (let n = 0; n < 5; n++)
    await effect(context(), order(`j${n}`), () => fail(down)).catch(() => undefined);
  await expect(effect(context(), order("j9"), charge)).rejects.toMatchObject({
    code: "TUNTAS_EFFECT_FAILED",
  });
  expect(await rowOf("j9")).toBeUndefined();

  const callsPerSecond = 2;
  const slow = bank("slow", undefined, { callsPerSecond });
  const begunMs = performance.now();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      effect(context(), slow.order(`k${n}`), slow.charge).catch((cause: { code: string }) => cause.code),
    ),
  );
  expect(answers).toContain("TUNTAS_EFFECT_THROTTLED");
  // A second's worth at once, then the rate; a machine that stalls gives the later ones time to come due.
  const seconds = (performance.now() - begunMs) / 1000;
  expect(slow.made.length).toBeGreaterThanOrEqual(callsPerSecond);
  expect(slow.made.length).toBeLessThanOrEqual(callsPerSecond * (1 + seconds) + 1);
});

test("a redrive is refused while a call of the work is unknown, and a person's word settles it", async () => {
  const { database } = kit.platform;
  const { order, silent } = bank("by hand");
  await effect(context(), order("l", { subject: "exec-1" }), silent).catch(() => undefined);
  await expect(assertRedrivable(database, "exec-1")).rejects.toMatchObject({
    code: "TUNTAS_REDRIVE_REFUSED",
  });
  await assertRedrivable(database, "exec-2");
  const [row] = await unknownEffects(database, { work: ["exec-1"] });
  await settleByHand(database, row!.id, {
    finding: { state: "succeeded", response: { receipt: "r-l" }, reference: "r-l" },
    by: "ana",
    reason: "seen in the bank's portal",
  });
  await assertRedrivable(database, "exec-1");
  expect(await rowOf("l")).toMatchObject({
    state: "succeeded",
    settled_by: "ana: seen in the bank's portal",
  });
});

test("G-20 six kinds of side effect keep the contract: one row each, one call each, the same answer twice", async () => {
  for (const operation of ["payment", "email", "registry", "document", "ticket", "agency-notice"]) {
    let calls = 0;
    const declared = provider({
      name: `stub ${operation}`,
      timeout: "1s",
      reconcile: { [operation]: "manual" },
    });
    const run = () =>
      effect(
        context(),
        { provider: declared, operation, key: `case-1/${operation}`, request: {} },
        async ({ key }) => ({ key, n: ++calls }),
      );
    const first = await run();
    expect(await run()).toEqual({ ...first, status: "duplicate" });
    expect(await rowOf(`case-1/${operation}`)).toMatchObject({ state: "succeeded", calls: 1 });
  }
});

test("the sweep makes a dead caller's intent unknown and asks the provider", async () => {
  const { database } = kit.platform;
  const { declared, order } = bank("dead caller", () => ({
    state: "succeeded",
    response: { receipt: "found" },
  }));
  const { insertIntent } = await import("./store.ts");
  const { requestHash, canonicalText } = await import("../canonical.ts");
  const { operation, key, request } = order("m");
  await insertIntent(database, {
    provider: "dead caller",
    operation,
    key,
    request: canonicalText(request),
    requestHash: requestHash(request),
    subject: undefined,
    caller: undefined,
    holdMs: 1000,
  });
  expect(await reconcileEffects(database, [declared], fail)).toBe(0);
  await kit.advance(1001);
  expect(await reconcileEffects(database, [declared], fail)).toBe(1);
  expect(await rowOf("m")).toMatchObject({ state: "succeeded" });
});

test("R-13 of many processes one asks about an unknown call, and more than a hundred that nobody can answer keep none back", async () => {
  const { database } = kit.platform;
  const asked: string[] = [];
  const many = provider({
    name: "many",
    breakerFailures: 1000,
    timeout: "1ms",
    arrivesWithin: "1ms",
    reconcile: {
      manual: "manual",
      charge: async ({ key }) => {
        asked.push(key);
        return key === "last" ? { state: "succeeded", response: 1 } : { state: "unknown" };
      },
    },
  });
  const lost = (operation: string, key: string) =>
    effect(
      { database },
      { provider: many, operation, key, request: {} },
      () => new Promise(() => undefined),
    ).catch(() => undefined);
  await Promise.all(Array.from({ length: 100 }, (_, n) => lost("charge", `k${n}`)));
  await lost("manual", "by hand");
  await lost("charge", "last");
  const round = () => Promise.all([1, 2, 3].map(() => reconcileEffects(database, [many], fail)));
  await round();
  expect(asked).toHaveLength(new Set(asked).size);
  await round();
  expect(asked).toHaveLength(101);
  expect(await unknownEffects(database, { provider: "many" })).toHaveLength(100);
  expect(asked).not.toContain("by hand");
});

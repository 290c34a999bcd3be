import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import { underLease } from "./hold.ts";
import { claimLease, completeLease, heartbeatLease, releaseLease, type LeaseAnswer } from "./lease.ts";

let kit: TestPlatform;
beforeAll(async () => void (kit = await testPlatform()));
afterAll(() => kit[Symbol.asyncDispose]());

const claim = (name: string, owner: string, more = {}) =>
  claimLease(kit.platform.database, { name, owner, ...more });
const leaseOf = (answer: LeaseAnswer) => (answer.status === "claimed" ? answer.lease : expect.unreachable());

test("G-27 one of two workers claims; after a death the other takes over once the lease is over", async () => {
  const answers = await Promise.all([claim("a", "w1"), claim("a", "w2")]);
  expect(answers.map((answer) => answer.status).toSorted()).toEqual(["claimed", "held"]);
  await kit.advance(119_000);
  expect(await claim("a", "w3")).toMatchObject({ status: "held", expiresInMs: expect.any(Number) });
  await kit.advance(1001);
  expect(await claim("a", "w3")).toMatchObject({ status: "claimed", takenOver: true });
});

test("G-28 worker-01 a late old owner completes nothing, and says so; its fence is no longer the job's", async () => {
  const { database } = kit.platform;
  const old = leaseOf(await claim("b", "w1"));
  await kit.advance(120_001);
  await expect(completeLease(database, old, "late")).rejects.toMatchObject({ code: "TUNTAS_LEASE_LOST" });
  const next = leaseOf(await claim("b", "w1"));
  await expect(heartbeatLease(database, old)).rejects.toMatchObject({ code: "TUNTAS_LEASE_LOST" });
  await releaseLease(database, old);
  await completeLease(database, next, { found: 3 });
  expect(await claim("b", "w2")).toEqual({ status: "completed", result: { found: 3 } });
});

test("G-29 G-30 work of three times its lease is done once, renewed all along, and its result is kept", async () => {
  const { database } = kit.platform;
  let runs = 0;
  const work = () =>
    underLease(database, { name: "c", owner: "w", lease: "600ms" }, async ({ signal }) => {
      runs++;
      await sleep(1800);
      return signal.aborted ? "lost" : "whole";
    });
  const first = work();
  await sleep(1000);
  expect(await work()).toMatchObject({ status: "held" });
  expect(await first).toEqual({ status: "completed", result: "whole" });
  expect(await work()).toEqual({ status: "completed", result: "whole" });
  expect(runs).toBe(1);
});

test("the signal aborts when the lease is lost, and nothing is completed", async () => {
  const { database } = kit.platform;
  const working = underLease(database, { name: "d", owner: "w1", lease: "900ms" }, async ({ signal }) => {
    await kit.advance(10_000);
    await claim("d", "w2");
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return "late";
  });
  await expect(working).rejects.toMatchObject({ code: "TUNTAS_LEASE_LOST" });
  expect(await claim("d", "w3")).toMatchObject({ status: "held", owner: "w2" });
});

test("work that throws gives the job back", async () => {
  const { database } = kit.platform;
  const options = { name: "e", owner: "w1" };
  await expect(underLease(database, options, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await claim("e", "w2")).toMatchObject({ status: "claimed", takenOver: false });
});

test("idem-02 a claimer with no time left holds nothing; one that does not know gets the documented two minutes", async () => {
  for (const [index, remainingMs] of [0, -5].entries()) {
    await claim(`f${index}`, "w1", { remainingMs });
    expect(await claim(`f${index}`, "w2")).toMatchObject({ status: "claimed" });
  }
  expect(leaseOf(await claim("f9", "w1")).leaseMs).toBe(120_000);
});

import { subscribe, unsubscribe } from "node:diagnostics_channel";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { channelName } from "../../engine/signals.ts";
import { killAtEachStep } from "../../engine/stepwise.fixture.ts";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import { effect } from "../effect/effect.ts";
import { refusal } from "../effect/contract.ts";
import { provider } from "../effect/provider.ts";
import { compensation, type Compensation } from "./contract.ts";
import {
  compensate,
  forgetCompensations,
  registerCompensation,
  retryCompensation,
  settleCompensation,
} from "./run.ts";
import { listCompensations } from "./store.ts";

let kit: TestPlatform;
beforeAll(async () => {
  kit = await testPlatform();
  await query(
    `create table ${kit.schema}.undone (at bigint generated always as identity, work text, step text)`,
  );
});
afterAll(() => kit[Symbol.asyncDispose]());

const query = (text: string, values: unknown[] = []): Promise<any[]> =>
  kit.platform.database.transaction(async (tx) => (await tx.client.query(text, values)).rows);

interface Step {
  readonly work: string;
  readonly step: string;
}

/** Writes what it undid, unless `fails` says how it goes wrong. */
const writing = (name: string, fails: () => unknown = () => undefined) =>
  compensation<Step>({
    name,
    attemptsMax: 3,
    async undo({ work, step }, { tx }) {
      await tx.query(`insert into ${kit.schema}.undone (work, step) values ($1, $2)`, [work, step]);
      const cause = fails();
      if (cause !== undefined) throw cause;
    },
  });

const register = (of: Compensation<Step>, work: string, step: string) =>
  kit.platform.database.transaction((tx) =>
    registerCompensation(tx, of, { work, key: step, input: { work, step } }),
  );

const undoneOf = async (work: string): Promise<string[]> =>
  (await query(`select step from ${kit.schema}.undone where work = $1 order by at`, [work])).map(
    (row) => row.step,
  );

const down = Object.assign(new Error("down"), { code: "ECONNREFUSED" });
const act = { by: "ana", reason: "looked at it" };

test("P-37 steps are undone in reverse order, each once, and counted", async () => {
  const { database } = kit.platform;
  const counted: unknown[] = [];
  const hear = (message: unknown) => void counted.push(message);
  subscribe(channelName("compensation.done"), hear);
  const release = writing("release");
  for (const step of ["reserve", "charge", "notify"]) await register(release, "w1", step);
  expect(await register(release, "w1", "charge")).toEqual({ status: "duplicate" });
  expect(await compensate(database, "w1", [release])).toEqual({ status: "completed", done: 3 });
  expect(await compensate(database, "w1", [release])).toEqual({ status: "completed", done: 0 });
  unsubscribe(channelName("compensation.done"), hear);
  expect(await undoneOf("w1")).toEqual(["notify", "charge", "reserve"]);
  expect(counted).toEqual(Array.from({ length: 3 }, () => ({ name: "release", work: "w1" })));
});

test("P-37 a step that is rolled back registers nothing, and work that succeeded forgets what it had registered", async () => {
  const { database } = kit.platform;
  const release = writing("release");
  const failing = database.transaction(async (tx) => {
    await registerCompensation(tx, release, { work: "w2", input: { work: "w2", step: "a" } });
    throw new Error("the step failed");
  });
  await expect(failing).rejects.toThrow("the step failed");
  expect(await listCompensations(database, { work: "w2" })).toEqual([]);
  await register(release, "w2", "a");
  expect(await database.transaction((tx) => forgetCompensations(tx, "w2"))).toBe(1);
  expect(await compensate(database, "w2", [release])).toEqual({ status: "completed", done: 0 });
  expect(await undoneOf("w2")).toEqual([]);
});

test("P-37 R-17 one that fails is parked, leaves nothing of itself, and stops what came before it until a person has decided", async () => {
  const { database } = kit.platform;
  let broken = true;
  const release = writing("release");
  const recall = writing("recall", () => (broken ? new Error("the letter is in the post") : undefined));
  await register(release, "w3", "reserve");
  await register(recall, "w3", "notice");
  await register(recall, "w3", "copy");
  await register(release, "w3", "last");
  const answer = await compensate(database, "w3", [release, recall]);
  expect(answer).toMatchObject({
    status: "parked",
    done: 1,
    row: { key: "copy", state: "parked", attempts: 1, failureMessage: "the letter is in the post" },
  });
  expect(await compensate(database, "w3", [release, recall])).toMatchObject({ status: "parked", done: 0 });
  expect(await undoneOf("w3")).toEqual(["last"]);

  const [copy] = await listCompensations(database, { work: "w3", state: "parked" });
  await settleCompensation(database, copy!.id, act);
  await expect(settleCompensation(database, copy!.id, act)).rejects.toMatchObject({
    code: "TUNTAS_COMPENSATION_STATE",
  });
  expect(await compensate(database, "w3", [release, recall])).toMatchObject({
    status: "parked",
    row: { key: "notice" },
  });
  broken = false;
  const [notice] = await listCompensations(database, { work: "w3", state: "parked" });
  await retryCompensation(database, notice!.id, act);
  expect(await compensate(database, "w3", [release, recall])).toEqual({ status: "completed", done: 2 });
  expect(await undoneOf("w3")).toEqual(["last", "notice", "reserve"]);
  const acts = await query(
    `select action, actor, reason from ${kit.schema}.audit where action like 'compensation.%' order by id`,
  );
  expect(acts).toEqual([
    { action: "compensation.settle", actor: "ana", reason: act.reason },
    { action: "compensation.retry", actor: "ana", reason: act.reason },
  ]);
});

test("what cannot be undone at the moment waits, and is parked after its tries; a name that nobody declares is parked", async () => {
  const { database } = kit.platform;
  const release = writing("release", () => down);
  await register(release, "w4", "reserve");
  const answers = [];
  for (let n = 0; n < 3; n++) answers.push((await compensate(database, "w4", [release])).status);
  expect(answers).toEqual(["waiting", "waiting", "parked"]);
  await register(writing("renamed"), "w5", "reserve");
  expect(await compensate(database, "w5", [release])).toMatchObject({
    status: "parked",
    row: { failureCode: "TUNTAS_COMPENSATION_MISSING" },
  });
});

test("G-15 an undo outside goes through the ledger: refused is parked, and a repeat does not call again", async () => {
  const { database } = kit.platform;
  const bank = provider({ name: "refunds", timeout: "5s", reconcile: { refund: "manual" } });
  const called: string[] = [];
  let crash = true;
  const refund = compensation<{ charge: string }>({
    name: "refund",
    async undo({ charge }, context) {
      const options = { provider: bank, operation: "refund", key: context.key, request: { charge } };
      await effect(context, options, async ({ key }) => {
        if (charge === "ch_no") throw refusal("TOO_OLD", "the charge is too old");
        called.push(key);
        return { ok: true };
      });
      if (crash) throw down;
      await context.tx.query(`insert into ${kit.schema}.undone (work, step) values ('w6', $1)`, [charge]);
    },
  });
  const refunding = (work: string, charge: string) =>
    database.transaction((tx) => registerCompensation(tx, refund, { work, input: { charge } }));
  await refunding("w6", "ch_1");
  expect(await compensate(database, "w6", [refund])).toMatchObject({ status: "waiting" });
  crash = false;
  expect(await compensate(database, "w6", [refund])).toEqual({ status: "completed", done: 1 });
  expect(called).toHaveLength(1);
  expect(await undoneOf("w6")).toEqual(["ch_1"]);
  await refunding("w7", "ch_no");
  expect(await compensate(database, "w7", [refund])).toMatchObject({
    status: "parked",
    row: { failureCode: "TUNTAS_EFFECT_REFUSED" },
  });
});

test("of several callers at once one undoes, and the others are told so at once", async () => {
  const { database } = kit.platform;
  let running = 0;
  const slow = compensation<Step>({
    name: "slow",
    async undo({ work, step }, { tx }) {
      expect(++running).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, 50));
      running--;
      await tx.query(`insert into ${kit.schema}.undone (work, step) values ($1, $2)`, [work, step]);
    },
  });
  for (const step of ["a", "b", "c"]) await register(slow, "w8", step);
  const answers = await Promise.all([1, 2, 3].map(() => compensate(database, "w8", [slow])));
  expect(answers.filter(({ status }) => status !== "busy")).not.toEqual([]);
  while ((await compensate(database, "w8", [slow])).status === "busy")
    await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await undoneOf("w8")).toEqual(["c", "b", "a"]);
});

test("P-37 killed at every write, each step is undone once and in order", async () => {
  const { database } = kit.platform;
  const release = writing("release");
  const points = await killAtEachStep({
    script: new URL("compensation.fixture.mjs", import.meta.url),
    args: (step) => [kit.databaseUrl, kit.schema, `kill-${step}`],
    async check(_, step) {
      const work = `kill-${step}`;
      for (const each of ["a", "b", "c"]) await register(release, work, each);
      // The dead one's attempt is over when its time is.
      while ((await compensate(database, work, [release])).status === "busy") await kit.advance(60_000);
      expect(await undoneOf(work)).toEqual(["c", "b", "a"]);
    },
  });
  expect(new Set(points)).toEqual(
    new Set([
      "before update compensation",
      "before insert into undone",
      "before insert into compensation",
      "before commit",
    ]),
  );
}, 180_000);

test("P-37 property: however undos fail, what is undone is a run from the end, once each, and the rest waits", async () => {
  let works = 0;
  const fates = fc.array(fc.constantFrom("fine", "passing", "broken"), { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(
      fates,
      fc.array(fc.constantFrom("run", "retry", "settle"), { maxLength: 12 }),
      async (plan, acts) => {
        const { database } = kit.platform;
        const work = `property-${++works}`;
        const left = plan.map((fate) => ({
          fate,
          tries: fate === "passing" ? 1 : fate === "broken" ? Infinity : 0,
        }));
        const model: number[] = []; // what was undone by the undos themselves
        let top = plan.length - 1;
        let parked = false;
        const undo = compensation<{ index: number }>({
          name: "step",
          attemptsMax: 5,
          async undo({ index }, { tx }) {
            await tx.query(`insert into ${kit.schema}.undone (work, step) values ($1, $2)`, [
              work,
              String(index),
            ]);
            const step = left[index]!;
            if (step.tries-- > 0) throw step.fate === "passing" ? down : new Error("broken");
          },
        });
        for (const index of plan.keys())
          await database.transaction((tx) =>
            registerCompensation(tx, undo, { work, key: `${index}`, input: { index } }),
          );
        for (const each of acts) {
          const [row] = await listCompensations(database, { work, state: "parked" });
          expect(row !== undefined).toBe(parked);
          if (each === "run") {
            const { status } = await compensate(database, work, [undo]);
            while (top >= 0 && !parked && plan[top] === "fine") model.push(top--);
            if (top < 0) expect(status).toBe("completed");
            else if (parked || plan[top] === "broken") expect(status).toBe(((parked = true), "parked"));
            else expect(status).toBe(((plan[top] = "fine"), "waiting"));
          } else if (row) {
            await (each === "retry" ? retryCompensation : settleCompensation)(database, row.id, act);
            parked = false;
            if (each === "settle") top--;
          }
          expect(await undoneOf(work)).toEqual(model.map(String));
        }
      },
    ),
    { numRuns: 25 },
  );
});

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import type { MoveAnswer, ReserveAnswer, ReserveOptions } from "./contract.ts";
import { confirm, release, renew, reserve } from "./reservation.ts";
import { sweepReservations } from "./sweep.ts";

let kit: TestPlatform;
beforeAll(async () => {
  kit = await testPlatform();
  await kit.platform.ledger.close(); // the tests sweep by themselves
});
afterAll(() => kit[Symbol.asyncDispose]());

const number = (resource: string, holder: string, more: Partial<ReserveOptions> = {}): ReserveOptions => ({
  kind: "case-number",
  resource,
  holder,
  expiresIn: "30m",
  ...more,
});
const inTx = <T>(work: (tx: Parameters<typeof reserve>[0]) => Promise<T>) =>
  kit.platform.database.transaction(work);
const reserving = (options: ReserveOptions) => inTx((tx) => reserve(tx, options));
const idOf = (answer: ReserveAnswer) =>
  (answer.status === "conflict" ? expect.unreachable() : answer.reservation.id) as string;

describe("one place", () => {
  test("G-21 G-22 one holder gets the number for 30 minutes, another a conflict, and nobody holds a lock", async () => {
    const first = await reserving(number("N-1", "case-1"));
    expect(first).toMatchObject({ status: "created", reservation: { state: "reserved", unit: 1 } });
    expect(await reserving(number("N-1", "case-1"))).toMatchObject({
      status: "duplicate",
      reservation: { id: idOf(first) },
    });
    expect(await reserving(number("N-1", "case-2"))).toEqual({
      status: "conflict",
      kind: "case-number",
      resource: "N-1",
    });
    const client = await kit.platform.database.handlerClient();
    const { rows } = await client.query(
      `select count(*)::int as n from pg_locks where relation = '${kit.schema}.reservation'::regclass and mode <> 'AccessShareLock'`,
    );
    client.release();
    expect(rows).toEqual([{ n: 0 }]);
  });

  test("G-23 P-45 confirming an expired one fails with the reason, before and after the sweep", async () => {
    const id = idOf(await reserving(number("N-2", "case-1")));
    await kit.advance(30 * 60_000);
    await expect(inTx((tx) => confirm(tx, id))).rejects.toMatchObject({
      code: "TUNTAS_RESERVATION_EXPIRED",
      message: expect.stringContaining("expired at"),
    });
    await sweepReservations(kit.platform.database, async () => undefined);
    await expect(inTx((tx) => confirm(tx, id))).rejects.toMatchObject({ code: "TUNTAS_RESERVATION_EXPIRED" });
    await expect(inTx((tx) => renew(tx, id, "1h"))).rejects.toMatchObject({
      code: "TUNTAS_RESERVATION_EXPIRED",
    });
  });

  test("G-24 releasing twice is one change, and a released number can be reserved again", async () => {
    const id = idOf(await reserving(number("N-3", "case-1")));
    expect(await inTx((tx) => release(tx, id))).toMatchObject({
      status: "created",
      reservation: { state: "released" },
    });
    expect(await inTx((tx) => release(tx, id))).toMatchObject({ status: "duplicate" });
    expect(await reserving(number("N-3", "case-2"))).toMatchObject({ status: "created" });
  });

  test("an expired number can be reserved again at once, and a confirmed one never", async () => {
    await reserving(number("N-4", "case-1"));
    await kit.advance(30 * 60_000);
    const id = idOf(await reserving(number("N-4", "case-2")));
    await inTx((tx) => confirm(tx, id));
    expect(await inTx((tx) => confirm(tx, id))).toMatchObject({ status: "duplicate" });
    await kit.advance(365 * 86_400_000);
    expect(await reserving(number("N-4", "case-3"))).toMatchObject({ status: "conflict" });
    await expect(inTx((tx) => release(tx, id))).rejects.toMatchObject({ code: "TUNTAS_RESERVATION_STATE" });
    await expect(inTx((tx) => confirm(tx, "00000000-0000-0000-0000-000000000000"))).rejects.toMatchObject({
      code: "TUNTAS_RESERVATION_MISSING",
    });
  });

  test("renewing lets it outlive a wait (the seed's approval of 7 days over a reservation of 30 minutes)", async () => {
    const id = idOf(await reserving(number("N-5", "case-1")));
    await inTx((tx) => renew(tx, id, "8d"));
    await kit.advance(7 * 86_400_000);
    expect(await inTx((tx) => confirm(tx, id))).toMatchObject({ status: "created" });
  });

  test("of twenty at once one gets it, and nobody waits for the others' transactions", async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        reserving(number("N-6", `case-${n}`)).catch((cause: unknown) => cause),
      ),
    );
    expect(answers.filter((answer) => (answer as ReserveAnswer).status === "created")).toHaveLength(1);
    for (const answer of answers) {
      expect(["created", "conflict", "TUNTAS_RESERVATION_BUSY"]).toContain(
        (answer as ReserveAnswer).status ?? (answer as { code: string }).code,
      );
    }
  });
});

test.each(["inventory", "slot", "appointment", "quota"])(
  "G-26 %s: a resource of three places takes three holders",
  async (kind) => {
    const of = (holder: string) => ({ kind, resource: "R", holder, expiresIn: "1h", capacity: 3 }) as const;
    const answers = await Promise.all(["a", "b", "c"].map((holder) => reserving(of(holder))));
    expect(
      answers.map((answer) => (answer.status === "created" ? answer.reservation.unit : 0)).toSorted(),
    ).toEqual([1, 2, 3]);
    expect(await reserving(of("d"))).toMatchObject({ status: "conflict" });
    await inTx((tx) => release(tx, idOf(answers[1]!)));
    expect(await reserving(of("d"))).toMatchObject({ status: "created" });
  },
);

test("G-25 the sweep expires what is overdue and tells its owner once, in the same commit", async () => {
  const notify = { kind: "function", name: "case-recovery" };
  const id = idOf(await reserving(number("N-7", "case-1", { notify })));
  await kit.advance(30 * 60_000);
  const told: unknown[] = [];
  const announce = async (_: unknown, all: readonly unknown[]) => void told.push(...all);
  await expect(
    sweepReservations(kit.platform.database, () => Promise.reject(new Error("crash"))),
  ).rejects.toThrow("crash");
  await Promise.all([1, 2, 3].map(() => sweepReservations(kit.platform.database, announce)));
  expect(told).toMatchObject([{ target: notify, key: id, type: "ReservationExpired" }]);
  expect(JSON.parse((told[0] as { payload: string }).payload)).toMatchObject({
    id,
    resource: "N-7",
    holder: "case-1",
    state: "expired",
  });
});

// The model: what one place of one resource looks like to the outside, by the clock.
type State = "reserved" | "confirmed" | "released";
interface Model {
  nowMs: number;
  held: Map<string, { holder: string; state: State; expiresAtMs: number }>;
  ids: string[];
}
const activeAt = (model: Model) =>
  [...model.held].find(
    ([, row]) => row.state === "confirmed" || (row.state === "reserved" && row.expiresAtMs > model.nowMs),
  );

type Real = { resource: string; ids: string[] };
type Command = fc.AsyncCommand<Model, Real>;
const always = () => true;

class Reserve implements Command {
  readonly holder: string;
  constructor(holder: string) {
    this.holder = holder;
  }
  check = always;
  toString = () => `reserve(${this.holder})`;
  async run(model: Model, real: Real) {
    const answer = await reserving({
      kind: "model",
      resource: real.resource,
      holder: this.holder,
      expiresIn: "10m",
    });
    const active = activeAt(model);
    if (!active) {
      expect(answer.status).toBe("created");
      model.held.set(idOf(answer), {
        holder: this.holder,
        state: "reserved",
        expiresAtMs: model.nowMs + 600_000,
      });
      model.ids.push(idOf(answer));
    } else if (active[1].holder === this.holder)
      expect(answer).toMatchObject({ status: "duplicate", reservation: { id: active[0] } });
    else expect(answer.status).toBe("conflict");
  }
}

class Act implements Command {
  readonly name: "confirm" | "release" | "renew";
  readonly which: number;
  constructor(name: "confirm" | "release" | "renew", which: number) {
    this.name = name;
    this.which = which;
  }
  check = (model: Readonly<Model>) => model.ids.length > 0;
  toString = () => `${this.name}(${this.which})`;
  expected(model: Model, row: { state: State; expiresAtMs: number }): string {
    const target = { confirm: "confirmed", release: "released", renew: undefined }[this.name];
    if (row.state === target) return "duplicate";
    const expired = row.state === "reserved" && row.expiresAtMs <= model.nowMs;
    if (expired) return this.name === "release" ? "duplicate" : "TUNTAS_RESERVATION_EXPIRED";
    return row.state === "reserved" ? "created" : "TUNTAS_RESERVATION_STATE";
  }
  async run(model: Model) {
    const id = model.ids[this.which % model.ids.length]!;
    const row = model.held.get(id)!;
    const act = {
      confirm,
      release,
      renew: (tx: Parameters<typeof renew>[0], of: string) => renew(tx, of, "10m"),
    }[this.name];
    const came = await inTx((tx) => act(tx, id)).then(
      (answer: MoveAnswer) => answer.status as string,
      (cause: { code: string }) => cause.code,
    );
    const expected = this.expected(model, row);
    expect(came).toBe(expected);
    if (came !== "created") return undefined;
    if (this.name === "renew") row.expiresAtMs = Math.max(row.expiresAtMs, model.nowMs + 600_000);
    else row.state = this.name === "confirm" ? "confirmed" : "released";
    return undefined;
  }
}

class Wait implements Command {
  readonly minutes: number;
  constructor(minutes: number) {
    this.minutes = minutes;
  }
  check = always;
  toString = () => `wait(${this.minutes}m)`;
  async run(model: Model) {
    await kit.advance(this.minutes * 60_000);
    model.nowMs += this.minutes * 60_000;
  }
}

class Sweep implements Command {
  check = always;
  toString = () => "sweep";
  async run() {
    await sweepReservations(kit.platform.database, async () => undefined);
  }
}

test("G-21 G-26 property: whatever is done in whatever order, the place belongs to whom the model says", async () => {
  let run = 0;
  const commands = [
    fc.constantFrom("a", "b", "c").map((holder) => new Reserve(holder)),
    fc
      .tuple(fc.constantFrom("confirm" as const, "release" as const, "renew" as const), fc.nat(5))
      .map(([name, which]) => new Act(name, which)),
    // Never a whole number of minutes that ends at the very instant of an expiry: the real clock moves on meanwhile.
    fc.constantFrom(3.5, 9.5, 11).map((minutes) => new Wait(minutes)),
    fc.constant(new Sweep()),
  ];
  await fc.assert(
    fc.asyncProperty(fc.commands(commands, { maxCommands: 15 }), async (plan) => {
      const setup = () => ({
        model: { nowMs: 0, held: new Map(), ids: [] } as Model,
        real: { resource: `P-${run++}`, ids: [] },
      });
      await fc.asyncModelRun(setup, plan);
    }),
    { numRuns: 40 },
  );
});

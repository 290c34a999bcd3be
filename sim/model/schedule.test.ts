// Generated commands against the oracle of schedules and PostgreSQL: both must have begun the same, step by step.
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { settleDone, settleReject } from "../../lib/src/queue/store/settle.ts";
import type { HeldMessage } from "tuntas/queue";
import { overlaps, schedule } from "tuntas/schedule";
import { testPlatform, type TestPlatform } from "tuntas/testing";
import { stopClock } from "./clock.ts";
import { onTimeSeconds, periodSeconds, ScheduleModel, type ModelRules } from "./schedule.ts";

let kit: TestPlatform;
let pass: (seconds: number) => Promise<void>;
beforeAll(async () => {
  kit = await testPlatform();
  pass = await stopClock(kit);
});
afterAll(() => kit[Symbol.asyncDispose]());

const scope = { account: "000000000000", region: "us-east-1" };
const by = { by: "model", reason: "a command" };

type Command =
  | { readonly kind: "advance"; readonly seconds: number }
  | { readonly kind: "end"; readonly which: number; readonly state: "succeeded" | "failed" }
  | { readonly kind: "pause" }
  | { readonly kind: "resume" }
  | { readonly kind: "run"; readonly which: number };

const advance = fc.record({
  kind: fc.constant("advance" as const),
  seconds: fc.constantFrom(10, onTimeSeconds, onTimeSeconds + 1, periodSeconds, 100, 200, 700),
});
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: advance },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("end" as const),
      which: fc.nat(20),
      state: fc.constantFrom("succeeded" as const, "succeeded" as const, "failed" as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("pause" as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("resume" as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("run" as const), which: fc.nat(20) }) },
);

const rules: fc.Arbitrary<ModelRules> = fc
  .record({
    overlap: fc.constantFrom(...overlaps),
    catchUp: fc.constantFrom("skip" as const, "latest" as const, "all" as const),
    withinSeconds: fc.constant(150),
  })
  .filter(({ overlap, catchUp }) => overlap !== "skip" || catchUp !== "all");

/** One schedule in both worlds. */
async function world({ overlap, catchUp, withinSeconds }: ModelRules) {
  const { database, queues, schedules } = kit.platform;
  const name = `model-${randomUUID().slice(0, 8)}`;
  const { queue } = await queues.catalog.create(scope, name, { visibilitySeconds: 43_200 });
  await schedules.declare("model", [
    schedule(name, {
      when: `rate(${periodSeconds / 60} minute)`,
      timeZone: "UTC",
      overlap,
      catchUp:
        catchUp === "latest"
          ? { latest: `${withinSeconds}s` }
          : catchUp === "all"
            ? { all: `${withinSeconds}s` }
            : "skip",
      target: { kind: "queue", name },
      succeedsWithin: "1h",
      owner: "simulation",
      runbook: "sim/README.md",
    }),
  ]);
  await schedules.sweep();
  const model = new ScheduleModel({ overlap, catchUp, withinSeconds });
  const begunMs = (await schedules.occurrences(name)).at(-1)!.dueMs;
  const secondsOf = (ms: number) => (ms - begunMs) / 1000;
  /** The messages of work that was begun, by number. */
  const held = new Map<string, HeldMessage>();

  async function endOf(reference: string, state: "succeeded" | "failed"): Promise<void> {
    const received = await queues.receiver.receive(queue, {
      countMax: 100,
      waitMs: 0,
      visibilitySeconds: null,
    });
    for (const message of received) held.set(message.id, message);
    const message = held.get(reference)!;
    if (state === "succeeded") await settleDone(database, [message]);
    else
      await settleReject(database, [
        {
          ...message,
          failure: { outcome: "rejected", code: "NO", message: "no", fingerprint: "no", schemaVersion: null },
        },
      ]);
  }

  const steps = {
    async advance({ seconds }: Command & { kind: "advance" }) {
      await pass(seconds);
      model.advance(seconds);
    },
    async end({ which, state }: Command & { kind: "end" }) {
      const started = model.in("started");
      const one = started[which % started.length];
      if (!one) return;
      const all = await schedules.occurrences(name, 1000);
      const { reference } = all.find(({ dueMs, run }) => secondsOf(dueMs) === one.due && run === one.run)!;
      await endOf(reference!, state);
      model.end(one, state);
    },
    async pause() {
      await schedules.pause(name, by);
      model.pause();
    },
    async resume() {
      await schedules.resume(name, by);
      model.resume();
    },
    async run({ which }: Command & { kind: "run" }) {
      const due = model.latest() - (which % (1 + model.latest() / periodSeconds)) * periodSeconds;
      await schedules.run(name, { ...by, dueMs: begunMs + due * 1000 });
      model.run(due);
    },
  };

  return {
    async step(each: Command) {
      await (steps[each.kind] as (of: Command) => Promise<void>)(each);
      await schedules.sweep();
      const here = (await schedules.occurrences(name, 1000)).toReversed();
      expect(
        here.map(({ dueMs, run, windowStartMs, windowEndMs, state }) => ({
          due: secondsOf(dueMs),
          run,
          start: secondsOf(windowStartMs),
          end: secondsOf(windowEndMs),
          state,
        })),
      ).toEqual(model.occurrences.map((of) => ({ ...of, end: of.due })));
      const { pausedAtMs, nextDueMs, running, waiting } = await schedules.find(name);
      expect({ running, waiting, next: pausedAtMs === null ? secondsOf(nextDueMs!) : undefined }).toEqual({
        running: model.in("started").length,
        waiting: model.in("waiting").length,
        next: model.nextDue(),
      });
    },
    end: () => schedules.remove(name, by),
  };
}

test("S-06 S-07 S-12 S-13 S-14: a schedule begins what the model says, whatever the commands", async () => {
  await fc.assert(
    fc.asyncProperty(rules, fc.array(command, { minLength: 5, maxLength: 30 }), async (of, commands) => {
      const both = await world(of);
      for (const each of commands) await both.step(each);
      await both.end();
    }),
    { numRuns: 15, endOnFailure: false },
  );
});

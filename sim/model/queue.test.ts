// Generated commands against the oracle and the real PostgreSQL: both must answer the same, step by step.
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeSender } from "../../lib/src/queue/client/send.ts";
import { encodeReceipt, type HeldMessage, type QueueRecord } from "tuntas/queue";
import { testPlatform, type TestPlatform } from "tuntas/testing";
import { stopClock } from "./clock.ts";
import { endings, QueueModel, type Ending } from "./queue.ts";
import { openWorker } from "./worker.ts";

let kit: TestPlatform;
let pass: (seconds: number) => Promise<void>;
beforeAll(async () => {
  kit = await testPlatform();
  pass = await stopClock(kit);
});
afterAll(() => kit[Symbol.asyncDispose]());

const scope = { account: "000000000000", region: "us-east-1" };
const settings = { visibilitySeconds: 10, receivesMax: 3 };

const ofWorkers = ["beat", "rest", "withdraw", "die"] as const;

type Command =
  | {
      readonly kind: "send";
      readonly group: string;
      readonly deduplicationId: string;
      readonly delaySeconds: number;
    }
  | { readonly kind: "receive" }
  | { readonly kind: "delete"; readonly which: number }
  | { readonly kind: "change"; readonly which: number; readonly seconds: number }
  | { readonly kind: "advance"; readonly seconds: number }
  | { readonly kind: (typeof ofWorkers)[number] }
  | { readonly kind: "settle"; readonly which: number; readonly ending: Ending };

const send = fc.record({
  kind: fc.constant("send" as const),
  group: fc.constantFrom("a", "b", "c"),
  deduplicationId: fc.constantFrom("1", "2", "3", "4", "5", "6"),
  delaySeconds: fc.constantFrom(0, 0, 7),
});
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: send },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("receive" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("delete" as const), which: fc.nat(20) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("change" as const),
      which: fc.nat(20),
      seconds: fc.constantFrom(0, 3, 25),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("advance" as const),
      seconds: fc.constantFrom(1, 1, 2, 11, 301),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom("rest" as const, "beat" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom(...ofWorkers) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("settle" as const),
      which: fc.nat(20),
      ending: fc.constantFrom(...endings),
    }),
  },
);

/** One queue in both worlds. */
async function world(fifo: boolean) {
  const { catalog, receiver, receipts } = kit.platform.queues;
  const name = `model-${randomUUID()}`;
  const full = (base: string) => (fifo ? `${base}.fifo` : base);
  const dead = (await catalog.create(scope, full(`${name}-dlq`), {})).queue;
  const { queue } = await catalog.create(scope, full(name), { ...settings, deadLetterName: dead.name });
  const model = new QueueModel({ fifo, ...settings });
  /** The last receipt of each body; older ones are not used, since standard queues differ about them in AWS's own records. */
  const held = new Map<string, { receipt: number; message: HeldMessage }>();
  let bodies = 0;
  const worker = await openWorker(kit.platform, queue);

  const shape = (all: readonly { body: string; receives: number }[]) =>
    all.map(({ body, receives }) => `${body} ${receives}`).toSorted();
  const receiveAll = (from: QueueRecord) =>
    receiver.receive(from, { countMax: 100, waitMs: 0, visibilitySeconds: null });
  const pick = (which: number) => [...held.values()][which % Math.max(1, held.size)];

  const ofWorker = (act: (typeof ofWorkers)[number]) => async () => {
    await worker[act]();
    model[act]();
  };
  await ofWorker("rest")();

  const steps = {
    async send({ group, deduplicationId, delaySeconds }: Command & { kind: "send" }) {
      const body = `m${bodies++}`;
      const wanted = {
        messageId: randomUUID(),
        body,
        ...(fifo ? { groupId: group, deduplicationId } : { delaySeconds }),
      };
      // Only who has rested looks for a worker that rests, so each is another one's first.
      const { status } = await makeSender(kit.platform.context).send(queue, wanted, "model");
      expect(status === "created").toBe(model.send(body, { group, deduplicationId, delaySeconds }));
    },
    async receive() {
      const messages = await receiveAll(queue);
      const expected = model.receiveAll();
      // Between groups any order is right; within one the ids must rise, so sorting by body may not be needed for FIFO.
      expect(shape(messages)).toEqual(shape(expected));
      const ofGroup = (group: string) =>
        messages.filter(({ groupId }) => groupId === group).map(({ id }) => Number(id));
      if (fifo)
        for (const group of ["a", "b", "c"])
          expect(ofGroup(group)).toEqual(ofGroup(group).toSorted((x, y) => x - y));
      for (const message of messages)
        held.set(message.body, {
          message,
          receipt: expected.find(({ body }) => body === message.body)!.receipt,
        });
    },
    async delete({ which }: Command & { kind: "delete" }) {
      const one = pick(which);
      if (!one) return;
      await receipts.delete(queue, encodeReceipt(one.message));
      model.delete(one.receipt);
    },
    async change({ which, seconds }: Command & { kind: "change" }) {
      const one = pick(which);
      if (!one) return;
      await receipts.change(queue, encodeReceipt(one.message), seconds);
      model.change(one.receipt, seconds);
    },
    async advance({ seconds }: Command & { kind: "advance" }) {
      await pass(seconds);
      model.advance(seconds);
    },
    beat: ofWorker("beat"),
    rest: ofWorker("rest"),
    withdraw: ofWorker("withdraw"),
    die: ofWorker("die"),
    async settle({ which, ending }: Command & { kind: "settle" }) {
      const all = await worker.inHands();
      const message = all[which % all.length];
      if (!message) return;
      await worker.settle(message, ending);
      model.settle(message.body, ending);
    },
  };

  return {
    model,
    async step(each: Command) {
      await (steps[each.kind] as (of: Command) => Promise<void>)(each);
      const { ready, inFlight, delayed } = await catalog.count(queue);
      expect({ ready, hidden: inFlight + delayed }).toEqual(model.counts());
      expect(shape(await worker.inHands())).toEqual(shape(model.inHands()));
    },
    async end() {
      expect((await receiveAll(dead)).map(({ body }) => body).toSorted()).toEqual(model.dead.toSorted());
    },
  };
}

test.each([
  ["standard", false],
  ["FIFO", true],
])("Q-01 Q-02 Q-03 Q-06 a %s queue does what the model says, whatever the commands", async (_, fifo) => {
  let handedOver = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 40 }), async (commands) => {
      const both = await world(fifo);
      for (const each of commands) await both.step(each);
      await both.end();
      handedOver += both.model.handedOver;
    }),
    { numRuns: 25, endOnFailure: false },
  );
  if (fifo) expect(handedOver).toBe(0);
  else expect(handedOver).toBeGreaterThan(5);
});

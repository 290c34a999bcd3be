// Generated commands against the oracle and the real PostgreSQL: both must answer the same, step by step.
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { encodeReceipt, type HeldMessage, type QueueRecord } from "tuntas/queue";
import { testPlatform, type TestPlatform } from "tuntas/testing";
import { QueueModel } from "./queue.ts";

let kit: TestPlatform;
beforeAll(async () => void (kit = await testPlatform()));
afterAll(() => kit[Symbol.asyncDispose]());

const scope = { account: "000000000000", region: "us-east-1" };
const settings = { visibilitySeconds: 10, receivesMax: 3 };

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
  | { readonly kind: "advance"; readonly seconds: number };

const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({
    kind: fc.constant("send" as const),
    group: fc.constantFrom("a", "b", "c"),
    deduplicationId: fc.constantFrom("1", "2", "3", "4", "5", "6"),
    delaySeconds: fc.constantFrom(0, 0, 7),
  }),
  fc.record({ kind: fc.constant("receive" as const) }),
  fc.record({ kind: fc.constant("delete" as const), which: fc.nat(20) }),
  fc.record({ kind: fc.constant("change" as const), which: fc.nat(20), seconds: fc.constantFrom(0, 3, 25) }),
  fc.record({ kind: fc.constant("advance" as const), seconds: fc.constantFrom(2, 11, 301) }),
);

/** One queue in both worlds. */
async function world(fifo: boolean) {
  const { catalog, sender, receiver, receipts } = kit.platform.queues;
  const name = `model-${randomUUID()}`;
  const full = (base: string) => (fifo ? `${base}.fifo` : base);
  const dead = (await catalog.create(scope, full(`${name}-dlq`), {})).queue;
  const { queue } = await catalog.create(scope, full(name), { ...settings, deadLetterName: dead.name });
  const model = new QueueModel({ fifo, ...settings });
  /** The last receipt of each body; older ones are not used, since standard queues differ about them in AWS's own records. */
  const held = new Map<string, { receipt: number; message: HeldMessage }>();
  let bodies = 0;

  const receiveAll = (from: QueueRecord) =>
    receiver.receive(from, { countMax: 100, waitMs: 0, visibilitySeconds: null });
  const pick = (which: number) => [...held.values()][which % Math.max(1, held.size)];

  const steps = {
    async send({ group, deduplicationId, delaySeconds }: Command & { kind: "send" }) {
      const body = `m${bodies++}`;
      const wanted = {
        messageId: randomUUID(),
        body,
        ...(fifo ? { groupId: group, deduplicationId } : { delaySeconds }),
      };
      const { status } = await sender.send(queue, wanted, "model");
      expect(status === "created").toBe(model.send(body, { group, deduplicationId, delaySeconds }));
    },
    async receive() {
      const messages = await receiveAll(queue);
      const expected = model.receiveAll();
      const shape = (all: readonly { body: string; receives: number }[]) =>
        all.map(({ body, receives }) => `${body} ${receives}`);
      // Between groups any order is right; within one the ids must rise, so sorting by body may not be needed for FIFO.
      expect(shape(messages).toSorted()).toEqual(shape(expected).toSorted());
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
      await kit.advance(seconds * 1000);
      model.advance(seconds);
    },
  };

  return {
    async step(each: Command) {
      await (steps[each.kind] as (of: Command) => Promise<void>)(each);
      const { ready, inFlight, delayed } = await catalog.count(queue);
      expect({ ready, hidden: inFlight + delayed }).toEqual(model.counts());
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
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 40 }), async (commands) => {
      const both = await world(fifo);
      for (const each of commands) await both.step(each);
      await both.end();
    }),
    { numRuns: 25, endOnFailure: false },
  );
});

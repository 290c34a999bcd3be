import { expect, test } from "vitest";
import { makeBatch } from "./batch.ts";

test("of a batch that failed in part only what failed for the service's sake is asked again, and each is told its own", async () => {
  const asked: string[][] = [];
  const batch = makeBatch<{ name: string }, object>({
    what: "delete messages",
    requestsMax: 1,
    async request(entries) {
      asked.push(entries.map(({ name }) => name));
      const fails = (name: string) => name === "refused" || (name === "busy" && asked.length === 1);
      return {
        Successful: entries.filter(({ name }) => !fails(name)).map(({ Id }) => ({ Id })),
        Failed: entries
          .filter(({ name }) => fails(name))
          .map(({ Id, name }) => ({ Id, Code: name, SenderFault: name === "refused" })),
      };
    },
  });
  const told = await Promise.allSettled(["good", "busy", "refused"].map((name) => batch.add({ name })));
  expect(told.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
  expect(told[2]).toMatchObject({
    reason: { code: "TUNTAS_QUEUE_REFUSED", message: expect.stringContaining("refused") },
  });
  expect(asked).toEqual([["good", "busy", "refused"], ["busy"]]);
});

test("ten entries a request, each with an id of its own in it", async () => {
  const sizes: number[] = [];
  const batch = makeBatch<{ name: number }, { echo: number }>({
    what: "send messages",
    requestsMax: 1,
    async request(entries) {
      sizes.push(entries.length);
      expect(new Set(entries.map(({ Id }) => Id)).size).toBe(entries.length);
      return { Successful: entries.map(({ Id, name }) => ({ Id, echo: name })) };
    },
  });
  const all = Array.from({ length: 23 }, (_, name) => name);
  expect(await Promise.all(all.map(async (name) => (await batch.add({ name })).echo))).toEqual(all);
  expect(sizes).toEqual([10, 10, 3]);
});

import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import { work } from "./worker.fixture.ts";

let kit: TestPlatform;
beforeAll(async () => void (kit = await testPlatform()));
afterAll(() => kit[Symbol.asyncDispose]());

test("claims no more while the outcomes of thousands wait for the database", async () => {
  const { database, queues } = kit.platform;
  const blocker = await database.dedicatedClient();
  let handled = 0;
  await using it = await work(kit.platform, { handle: () => void handled++, idempotencyKey: "none" });
  await queues.catalog.pause(it.record, "ada", "a test");
  await it.queue.send({ id: "first" }); // and finds the queue, for the others as well
  await Promise.all(Array.from({ length: 4999 }, (_, n) => it.queue.send({ id: `${n}` })));
  // Acknowledgements delete from it, claims do not.
  await blocker.query(`begin; lock table ${database.schema}.failure in share mode`);
  await queues.catalog.resume(it.record, "ada", "a test");
  try {
    // Nothing runs, nothing is held ahead, look after look, although thousands are ready.
    let looks = 0;
    const stands = () => {
      const { running, buffered } = it.app.active()[0]!;
      looks = handled >= 2000 && running + buffered === 0 ? looks + 1 : 0;
      return looks > 10;
    };
    await vi.waitUntil(() => stands() || handled > 4000, { timeout: 30_000 });
    expect(handled).toBeLessThan(4000);
  } finally {
    await blocker.end();
  }
  await it.attempts.until(5000);
  expect(handled).toBe(5000);
});

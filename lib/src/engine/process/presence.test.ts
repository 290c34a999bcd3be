import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testPlatform, type TestPlatform } from "tuntas/testing";

let kit: TestPlatform;
beforeAll(async () => void (kit = await testPlatform({ watches: false })));
afterAll(() => kit[Symbol.asyncDispose]());

async function ask(text: string, ...values: unknown[]): Promise<any[]> {
  const { database } = kit.platform;
  return database.transaction(async ({ client }) => {
    const { rows } = await client.query(text.replaceAll("tuntas.", `${kit.schema}.`), values);
    return rows;
  });
}

const beats = () =>
  ask(`select id::text, pg_try_advisory_xact_lock(lock_key) as free, lock_key::text as lock from tuntas.process
    where lock_key is not null`);

test("who was taken for dead beats again at once, in another's name, from the thread and the session that it had", async () => {
  const [before] = await beats();
  expect(before).toMatchObject({ id: kit.platform.processId(), free: false });
  let threads = 0;
  const count = () => void threads++;
  subscribe("worker_threads", count);
  const lost = new Promise<void>((resolve) => kit.platform.onLost(resolve));
  await ask("delete from tuntas.process");
  await lost;
  await expect.poll(beats).toMatchObject([{ free: false }]);
  unsubscribe("worker_threads", count);
  const [after] = await beats();
  expect(after.id).not.toBe(before.id);
  expect(kit.platform.processId()).toBe(after.id);
  expect(await ask("select pg_try_advisory_xact_lock($1) as free", before.lock)).toEqual([{ free: true }]);
  expect(threads).toBe(0);
});

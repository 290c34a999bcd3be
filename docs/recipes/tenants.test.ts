// The recipe for tenants runs as it stands: its declarations, and its commands by the built command.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { afterAll, beforeAll, expect, test } from "vitest";
import { blocksOf, openKitchen, type Kitchen } from "./kitchen.fixture.ts";

let kitchen: Kitchen;
beforeAll(async () => void (kitchen = await openKitchen("tenants")));
afterAll(() => kitchen.close());

/** Resolves once so many attempts have ended. */
function attempts(count: number): Promise<readonly { queue: string; tenant?: string; outcome: string }[]> {
  const seen: any[] = [];
  return new Promise((resolve) => {
    const listener = (attempt: unknown) => {
      if (seen.push(attempt) < count) return;
      unsubscribe("tuntas.worker.attempt", listener);
      resolve(seen);
    };
    subscribe("tuntas.worker.attempt", listener);
  });
}

test("N-13 N-09 docs/recipes/tenants.md: five kinds of tenants, each where it belongs", async () => {
  await kitchen.client.query(blocksOf(new URL("tenants.md", import.meta.url), "sql").join("\n"));
  const { start, pool, ministry, cases, sendDocument, serve } = await kitchen.recipe("tenants");
  const platform = { databaseUrl: kitchen.url };
  const ended = attempts(6);
  const shared = await start(pool, platform);
  const sealed = await start(ministry, platform);
  try {
    for (const customer of ["noisy", "premium-inc", "small"])
      await sendDocument({ documentId: customer, customer });
    await sendDocument({ documentId: "secret", customer: "ministry" });
    await cases.send({ caseId: "1", agency: "tax" });
    await cases.send({ caseId: "1", agency: "tax" });
    const seen = (await ended).map(({ queue, tenant, outcome }) => `${queue} ${tenant} ${outcome}`);
    expect(seen.toSorted()).toEqual([
      "cases tax done",
      "cases tax done",
      "documents noisy done",
      "documents premium-inc done",
      "documents small done",
      "documents-ministry undefined done",
    ]);
    const { rows } = await kitchen.client.query("select customer from rendered order by 1");
    expect(rows.map(({ customer }) => customer)).toEqual(["noisy", "premium-inc", "small"]);
    const server = await serve(shared.platform);
    const put = (n: number) =>
      server.inject({
        method: "PUT",
        url: "/documents/9",
        headers: { "x-customer": "small", "idempotency-key": `${n}` },
      });
    const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => put(n)));
    const statuses = answers.map(({ statusCode }: { statusCode: number }) => statusCode);
    expect(new Set(statuses)).toEqual(new Set([202, 429]));
    expect(statuses.filter((status) => status === 202).length).toBeGreaterThanOrEqual(40);
    await server.close();
  } finally {
    await sealed.stop();
    await shared.stop();
  }
  await kitchen.client.query(
    "select tuntas.send('documents', json_build_object('documentId', n, 'customer', 'noisy')::text, group_id => 'noisy') from generate_series(1, 3) n",
  );
  const [readers, lines] = blocksOf(new URL("tenants.md", import.meta.url), "sh");
  // The tests' role is a superuser, which row-level security does not hold.
  const read = await kitchen.type(readers!.trim());
  expect(read.out).toMatch(/^rendered +\w+ \(this one\) +ALL tenants +it is a superuser$/m);
  expect(read.code).toBe(1);
  const [show, diagnose, tenants, usage] = lines!.trim().split("\n");
  const { out, code } = await kitchen.type(show!);
  expect(out).toMatch(/tenant \(group\)[^]*noisy +3 +0 /);
  expect(code).toBe(0);
  expect((await kitchen.type(diagnose!)).code).toBe(0);
  expect((await kitchen.type(tenants!)).out).toMatch(/ready +in flight +oldest +cap +share[^]*noisy +3 +/);
  expect((await kitchen.type(usage!)).out).toMatch(/premium-inc +documents +[1-9][^]*total +[1-9]/);
});

test("X-10 X-11 docs/recipes/limits.md: each parcel of a queue is shipped, each of a Map sorted", async () => {
  const { client, url } = kitchen;
  await client.query("create table shipped (parcel text); create table sorted (parcel text)");
  const recipe = await kitchen.recipe("limits");
  const running = await recipe.start(recipe.default, { databaseUrl: url });
  try {
    await recipe.parcels.send({ parcelId: "1" });
    await recipe.sorting.start(["1", "2", "3"]);
    const counted =
      "select (select count(*)::int from shipped) as shipped, (select count(*)::int from sorted) as sorted";
    await expect.poll(async () => (await client.query(counted)).rows).toEqual([{ shipped: 1, sorted: 3 }]);
  } finally {
    await running.stop();
  }
});

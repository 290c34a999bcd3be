import pg from "pg";
import { expect, test } from "vitest";
import { run } from "../../engine/stepwise.fixture.ts";
import { testPlatform } from "../../testing/index.ts";

const script = new URL("kill.fixture.mjs", import.meta.url);

test("B-14: killed at any write of a run, and by whoever goes on with it, each record is corrected once and its checkpoint says so", async () => {
  await using kit = await testPlatform();
  const { schema, databaseUrl } = kit;
  // Else its heartbeat would take steps of those that are to die.
  await kit.platform.close();
  const client = new pg.Client(databaseUrl);
  await client.connect();
  await client.query(`create table ${schema}.item (id integer primary key, fixed integer not null default 0);
    insert into ${schema}.item select generate_series(1, 6000)`);
  const seen = async () =>
    (
      await client.query<{ done: number; twice: number; read: number; handled: number; state: string }>(
        `select (select count(*)::int from ${schema}.item where fixed > 0) as done,
           (select count(*)::int from ${schema}.item where fixed > 1) as twice,
           coalesce(sum(p.read), 0)::int as read, r.handled::int as handled, r.state, r.id::text as run
         from ${schema}.backfill_run r left join ${schema}.backfill_partition p on p.run = r.id group by r.id`,
      )
    ).rows[0]!;
  const live = (step: string, ...of: string[]) => run(script, [step, databaseUrl, schema, "fees", ...of]);

  // The first of them dies at the start.
  await live("before update backfill_partition");
  const { run: id } = (await seen()) as unknown as { run: string };
  for (const step of ["before update item", "before commit", "before update backfill_run"]) {
    const { signal, out } = await live(step, id);
    expect({ signal, out }).toEqual({ signal: "SIGKILL", out: step });
    const { done, twice, read, handled } = await seen();
    expect({ twice, read, handled }, step).toEqual({ twice: 0, read: done, handled: done });
  }
  expect((await live("-1", id)).code).toBe(0);
  expect(await seen()).toMatchObject({ state: "completed", done: 6000, twice: 0, read: 6000, handled: 6000 });
  await client.end();
}, 600_000);

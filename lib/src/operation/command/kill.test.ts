import { randomUUID } from "node:crypto";
import pg from "pg";
import { expect, test } from "vitest";
import { run } from "../../engine/stepwise.fixture.ts";
import { testPlatform } from "../../testing/index.ts";

const script = new URL("kill.fixture.mjs", import.meta.url);

test("killed at any write of a run, the next process ends it once: its writes, its result and its end are one commit", async () => {
  await using kit = await testPlatform();
  const { schema, databaseUrl } = kit;
  // Else its heartbeat would free what those that are to die have held.
  await kit.platform.close();
  const client = new pg.Client(databaseUrl);
  await client.connect();
  const role = `case_repair_${randomUUID().slice(0, 8)}`;
  await client.query(`create table ${schema}.entry (id integer primary key, booked integer); create role ${role};
    grant usage on schema ${schema} to ${role}; grant insert on ${schema}.entry to ${role}`);
  const seen = async () =>
    (
      await client.query(`select o.state, (select count(*)::int from ${schema}.entry) as entries, r.result is not null as "hasResult",
        (select count(*)::int from ${schema}.operation) as runs from ${schema}.operation o join ${schema}.operation_command_run r on r.operation_id = o.id`)
    ).rows;
  const live = (step: string) => run(script, [step, databaseUrl, schema, role]);

  for (const step of [
    "before insert into operation_command_run",
    "before commit",
    "before insert into entry",
    "before insert into operation_item",
    "before update operation_command_run",
  ]) {
    const { signal, out } = await live(step);
    expect({ signal, out }).toEqual({ signal: "SIGKILL", out: step });
    for (const each of await seen())
      expect(each, step).toEqual({ state: "running", entries: 0, hasResult: false, runs: 1 });
  }
  expect((await live("-1")).code).toBe(0);
  const ended = [{ state: "completed", entries: 10, hasResult: true, runs: 1 }];
  expect(await seen()).toEqual(ended);
  // Asked for once more by the same key, it is the same.
  expect((await live("-1")).code).toBe(0);
  expect(await seen()).toEqual(ended);
  await client.query(`drop owned by ${role}; drop role ${role}`);
  await client.end();
}, 300_000);

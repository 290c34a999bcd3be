import { expect, test } from "vitest";
import { statement } from "../pg/database.ts";
import { testPlatform } from "../testing/index.ts";
import { readRuns } from "./runs.ts";

test("T-18 the last thirty completed jobs of each batch are read, the oldest first; what failed or runs is no measure", async () => {
  await using kit = await testPlatform();
  const { database } = kit.platform;
  await database.run(
    statement(
      `insert into tuntas.batch (name, staging, attempts, concurrency, priority, retention, owner, runbook)
       values ('nightly', 'staged', 1, 1, 0, '90 days', 'data-team', 'r'), ('idle', 'staged', 1, 1, 0, '90 days', 'data-team', 'r')`,
    ),
    [],
  );
  const job = statement(
    `insert into tuntas.batch_job (batch, key, input, input_hash, priority, actor, reason, state, asked_at, begun_at, ended_at)
     select 'nightly', $1 || n, '{}', '', 0, 'test', 'test', $1, now(), now(),
       case when $1 = 'completed' then now() + n * interval '1 minute' end from generate_series(1, 40) as n`,
  );
  for (const state of ["completed", "failed", "running"]) await database.run(job, [state]);
  const minutes = Array.from({ length: 30 }, (_, index) => (index + 11) * 60_000);
  expect(await readRuns(database)).toEqual([{ batch: "nightly", runsMs: minutes }]);
});

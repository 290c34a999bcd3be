import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import { expect, test } from "vitest";
import { killAtEachStep } from "../engine/stepwise.fixture.ts";
import { testPlatform } from "../testing/index.ts";

const script = new URL("kill.fixture.mjs", import.meta.url);
const old = { rows: 0, numbers: 0, manifests: 0 };
const whole = { rows: 10, numbers: 10, manifests: 1 };
const wanted = [
  "insert into batch_job",
  "update batch_job",
  "insert into staged",
  "insert into batch_manifest",
  "commit",
].map((point) => `before ${point}`);

test("B-05: killed in every transaction of a job's life, readers see the old or the new output, and it is promoted once", async () => {
  await using kit = await testPlatform();
  // Else its heartbeat would take steps of those that are to die.
  await kit.platform.close();
  const { schema } = kit;
  const client = new pg.Client(kit.databaseUrl);
  await client.connect();
  await client.query(`create table ${schema}.staged (job bigint not null, partition integer not null, n integer);
    create table ${schema}.final (name text, n integer)`);
  const seen = async (name: string) =>
    (
      await client.query<typeof old>(
        `select (select count(*)::int from ${schema}.final where name = $1) as rows,
           (select count(distinct n)::int from ${schema}.final where name = $1) as numbers,
           (select count(*)::int from ${schema}.batch_manifest where batch = $1) as manifests`,
        [name],
      )
    ).rows[0];
  const names: string[] = [];
  const nameAt = (life: number) => `kill-${life}`;
  const died = await killAtEachStep({
    script,
    wanted,
    args: (life) => [kit.databaseUrl, schema, nameAt(life)],
    async check(point, life) {
      names.push(nameAt(life));
      // What an earlier one has left goes on beside it, so that it may die at that, with its own job done.
      expect(point === "end" ? [whole] : [old, whole], point).toContainEqual(await seen(nameAt(life)));
    },
  });
  expect(died).toEqual(expect.arrayContaining(wanted));
  // Another process finds what the dead have left.
  await promisify(execFile)(process.execPath, [
    fileURLToPath(script),
    "-1",
    kit.databaseUrl,
    schema,
    ...names,
  ]);
  for (const name of names) expect(await seen(name), name).toEqual(whole);
  await client.end();
}, 600_000);

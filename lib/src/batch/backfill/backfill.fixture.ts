// A table of items to correct, and a backfill of them for each test: what was done to an item twice shows.
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { app, start, type RunningApp } from "../../index.ts";
import type { Platform } from "../../platform.ts";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import { backfill, type BackfillDefinition, type BackfillOptions } from "./index.ts";

const scope = z.object({ tenant: z.string() });
type Part = { readonly key: string; readonly from: number; readonly to: number };
type Options = BackfillOptions<typeof scope, Part, "id" | "amount">;

export const planned = { by: "ana", reason: "the fee was rounded down" };
export const approved = { by: "ben", reason: "the dry run is as it should be" };

export async function openShop() {
  const kit: TestPlatform = await testPlatform();
  const running: RunningApp[] = [];
  const { schema, platform } = kit;
  const sql = (text: string, values: unknown[] = []) =>
    platform.database.transaction(async ({ client }) => (await client.query(text, values)).rows);
  await sql(`create table ${schema}.item (id bigint primary key, tenant text not null, amount integer not null,
    status text not null default 'open', fixed integer not null default 0)`);

  /** Items of a tenant of its own; every tenth is final where it is asked for. */
  async function stock(count: number, finalEach = 0): Promise<string> {
    const tenant = `t-${randomUUID().slice(0, 8)}`;
    await sql(
      `insert into ${schema}.item (id, tenant, amount, status)
       select coalesce((select max(id) from ${schema}.item), 0) + n, $1, n, case when $3 > 0 and n % nullif($3, 0) = 0 then 'closed' else 'open' end
       from generate_series(1, $2) n`,
      [tenant, count, finalEach],
    );
    return tenant;
  }

  /** The items of a tenant, cut into so many ranges. */
  async function cut(tenant: string, parts: number): Promise<Part[]> {
    const [{ low, high }] = (await sql(
      `select min(id)::int as low, max(id)::int as high from ${schema}.item where tenant = $1`,
      [tenant],
    )) as [{ low: number; high: number }];
    const edge = (part: number) => low + Math.floor(((high + 1 - low) * part) / parts);
    return Array.from({ length: parts }, (_, part) => ({
      key: `part ${part + 1}`,
      from: edge(part),
      to: edge(part + 1) - 1,
    }));
  }

  function declare(
    more: Partial<Options> = {},
    parts = 2,
  ): BackfillDefinition<typeof scope, Part, "id" | "amount"> {
    return backfill(`fees-${randomUUID().slice(0, 8)}`, {
      scope,
      records: {
        table: `${schema}.item`,
        key: "id",
        columns: ["id", "amount"],
        where: ({ tenant }, { from, to }) => ({
          text: "tenant = $1 and id between $2 and $3",
          values: [tenant, from, to],
        }),
        final: "status = 'closed'",
      },
      partitions: ({ tenant }) => cut(tenant, parts),
      handle: (records, { tx }) =>
        tx.query(`update ${schema}.item set fixed = fixed + 1 where id = any($1)`, [
          records.map(({ id }) => id),
        ]),
      throttle: { perSecond: 100_000, slowAbove: { database: "60s", downstream: "60s" } },
      abort: { errorShare: 0.05, downstream: "600s" },
      window: "any",
      verify: () => [],
      rollback: { plan: "subtract one again" },
      timeout: "60s",
      concurrency: 2,
      runsOn: "anywhere",
      owner: "fees-team",
      runbook: "runbooks/fees.md",
      ...more,
    });
  }

  async function begin(
    of: BackfillDefinition<any, any, any>,
    on: Platform = platform,
    more = {},
  ): Promise<RunningApp> {
    const begun = await start(app({ of, ...more }), { platform: on });
    running.push(begun);
    return begun;
  }

  const { backfills } = platform;
  /** Plans the scope, makes the dry run and has it approved. */
  async function ready({ name }: { readonly name: string }, tenant: string): Promise<string> {
    const { runId } = await backfills.plan(name, { tenant }, planned);
    await backfills.settled(runId);
    await backfills.say("dry-run", runId, planned);
    await backfills.settled(runId);
    await backfills.say("approve", runId, approved);
    return runId;
  }
  const go = async (id: string) => {
    await backfills.say("start", id, planned);
    return backfills.settled(id);
  };

  return {
    kit,
    backfills,
    sql,
    stock,
    declare,
    begin,
    ready,
    go,
    /** How often the items of a tenant were corrected: how many were so and so often. */
    async fixed(tenant: string, status = "open"): Promise<Record<number, number>> {
      const rows = await sql(
        `select fixed, count(*)::int as n from ${schema}.item where tenant = $1 and status = $2 group by 1`,
        [tenant, status],
      );
      return Object.fromEntries((rows as { fixed: number; n: number }[]).map(({ fixed, n }) => [fixed, n]));
    },
    async close() {
      await Promise.all(running.map((each) => each.stop()));
      await kit[Symbol.asyncDispose]();
    },
  };
}

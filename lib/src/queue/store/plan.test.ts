// The plans of the statements that every message passes through, on tables that were filled a moment ago and never
// analysed: the planner knows nothing, and must still take the index. `TUNTAS_GOLDEN=write` writes the file.
import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Sql, Statement } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";
import { testPlatform } from "../../testing/index.ts";
import { claimMessages, fromTheStart } from "./claim/index.ts";
import { claimFresh } from "./claim/fresh.ts";
import { removeByFreshReceipt } from "./receipt.ts";
import { settleDone } from "./settle.ts";

const golden = new URL("./claim.plan.txt", import.meta.url);

/** The statement and its values, as the store would run them. */
async function captured(
  work: (sql: Pick<Sql, "run">) => Promise<unknown>,
): Promise<[Statement, readonly unknown[]]> {
  let seen!: [Statement, readonly unknown[]];
  await work({
    run: (of, values = []) => {
      seen = [of, values];
      return Promise.resolve([]);
    },
  });
  return seen;
}

const literal = (value: unknown): string => {
  if (Buffer.isBuffer(value)) return "null"; // an array as it is sent; the plan is the same for all
  if (Array.isArray(value)) return `'{${value.join(",")}}'`;
  return value === null ? "null" : typeof value === "string" ? `'${value}'` : String(value);
};

test("claims and acknowledgements take their indexes on 100,000 unanalysed rows", async () => {
  await using kit = await testPlatform();
  const { database } = kit.platform;
  const run = (text: string) => database.run<Record<string, string>>(statement(text));
  await run(`insert into tuntas.message (message_id, sent_at, sender, body)
    select gen_random_uuid(), tuntas.now(), 'test', 'x' from generate_series(1, 100000)`);
  await run(`insert into tuntas.ready (queue_id, id, sent_at) select 1, id, sent_at from tuntas.message`);

  const plans: string[] = [];
  const explain = async (title: string, work: (sql: Pick<Sql, "run">) => Promise<unknown>) => {
    const [of, values] = await captured(work);
    const name = `plan_${plans.length}`;
    // One transaction, and so one session: the prepared statement is planned as the engine's own are.
    await database.transaction(async (tx) => {
      await tx.run(statement(`prepare ${name} as ${of.text}`));
      const rows = await tx.run<Record<string, string>>(
        statement(`explain (costs off) execute ${name}(${values.map(literal).join(", ")})`),
      );
      plans.push([`-- ${title}`, ...rows.map((row) => row["QUERY PLAN"])].join("\n"));
    });
  };
  const request = { queueId: 1, count: 10, ownerId: "1", visibilitySeconds: null, from: fromTheStart };
  const item = { queueId: 1, id: "1", fence: "1" };
  await explain("claim", (sql) => claimMessages(sql, { ...request, bundled: true }).catch(() => undefined));
  await explain("claim of fresh messages", (sql) => claimFresh(sql, request));
  await explain("delete by receipt", (sql) =>
    removeByFreshReceipt(sql, [{ ...item, turn: "0" }]).catch(() => []),
  );
  await explain("done", (sql) =>
    settleDone(sql, [
      { ...item, bundled: false },
      { ...item, bundled: true },
    ]).catch(() => undefined),
  );

  const made = `${plans.join("\n\n").replaceAll(kit.schema, "tuntas")}\n`;
  // Never all that a queue has in flight.
  expect(plans[2]).toContain("Index Cond: ((queue_id = u.queue_id) AND (id = u.id))");
  expect(made).not.toMatch(/Seq Scan on (ready|message|in_flight)\b/);
  if (process.env.TUNTAS_GOLDEN === "write") writeFileSync(golden, made);
  // Other versions print the same plan in other words.
  if (database.serverVersion >= 180_000) expect(made).toBe(readFileSync(golden, "utf8"));
});

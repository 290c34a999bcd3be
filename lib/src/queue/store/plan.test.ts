// The plans of the statements that every message passes through, on tables that were filled a moment ago and never
// analysed: the planner knows nothing, and must still take the index. `TUNTAS_GOLDEN=write` writes the file.
import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Sql } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";
import { planOf } from "../../pg/plan.fixture.ts";
import { testPlatform } from "../../testing/index.ts";
import { claimMessages, fromTheStart } from "./claim/index.ts";
import { claimFresh } from "./claim/fresh.ts";
import { removeByFreshReceipt } from "./receipt.ts";
import { settleDone } from "./settle.ts";

const golden = new URL("./claim.plan.txt", import.meta.url);

test("claims and acknowledgements take their indexes on 100,000 unanalysed rows", async () => {
  await using kit = await testPlatform();
  const { database } = kit.platform;
  const run = (text: string) => database.run<Record<string, string>>(statement(text));
  await run(`insert into tuntas.message (message_id, sent_at, sender, body)
    select gen_random_uuid(), tuntas.now(), 'test', 'x' from generate_series(1, 100000)`);
  await run(`insert into tuntas.ready (queue_id, id, sent_at) select 1, id, sent_at from tuntas.message`);

  const plans: string[] = [];
  const explain = async (title: string, work: (sql: Pick<Sql, "run">) => Promise<unknown>) => {
    plans.push(`-- ${title}\n${await planOf(database, work)}`);
  };
  const request = { queueId: 1, count: 10, ownerId: "1", visibilitySeconds: null, from: fromTheStart };
  const item = { queueId: 1, id: "1", fence: "1" };
  await explain("claim", (sql) => claimMessages(sql, { ...request, bundled: true }));
  await explain("claim of fresh messages", (sql) => claimFresh(sql, request));
  await explain("delete by receipt", (sql) => removeByFreshReceipt(sql, [{ ...item, turn: "0" }]));
  await explain("done", (sql) =>
    settleDone(sql, [
      { ...item, bundled: false },
      { ...item, bundled: true },
    ]),
  );

  const made = `${plans.join("\n\n").replaceAll(kit.schema, "tuntas")}\n`;
  // Never all that a queue has in flight.
  expect(plans[2]).toContain("Index Cond: ((queue_id = u.queue_id) AND (id = u.id))");
  expect(made).not.toMatch(/Seq Scan on (ready|message|in_flight)\b/);
  if (process.env.TUNTAS_GOLDEN === "write") writeFileSync(golden, made);
  // Other versions print the same plan in other words.
  if (database.serverVersion >= 180_000) expect(made).toBe(readFileSync(golden, "utf8"));
});

// The recipe for streams runs as it stands: its code against the built package, its commands by the built command.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { blocksOf, openKitchen, type Kitchen } from "./kitchen.fixture.ts";

const bin = fileURLToPath(new URL("../../lib/bin/tuntas.mjs", import.meta.url));
const commands = blocksOf(new URL("streams.md", import.meta.url), "sh")[0]!
  .trim()
  .split("\n");

let kitchen: Kitchen;
beforeAll(async () => void (kitchen = await openKitchen("streams")));
afterAll(() => kitchen.close());

const rows = async (text: string) => (await kitchen.client.query(text)).rows as object[];

/** What the command says, whatever its status. */
async function type(line: string): Promise<string> {
  const words = [...line.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word);
  const env = { ...process.env, DATABASE_URL: kitchen.url };
  const run = promisify(execFile)(process.execPath, [bin, ...words.slice(1)], { env });
  return run.then(
    ({ stdout }) => stdout,
    ({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr,
  );
}

test("Y-05 Y-14 docs/recipes/streams.md", async () => {
  for (const table of [
    "order_status (order_id text primary key, status text)",
    "order_audit (record text primary key, event text)",
    "mailed (order_id text)",
    "orders (id text primary key, status text)",
  ])
    await kitchen.client.query(`create table ${table}`);
  const { default: declared, orderEvents, pay, start } = await kitchen.recipe("streams");
  const running = await start(declared, { databaseUrl: kitchen.url });
  try {
    const append = (orderId: string, event: string) =>
      orderEvents.append({ orderId, event, amount: 12 }, { key: orderId });
    await append("o1", "placed");
    await kitchen.client.query("insert into orders values ('o1', 'placed')");
    await pay(kitchen.client, "o1", 12);
    await append("o1", "shipped");
    await expect
      .poll(() => rows("select * from order_status"))
      .toEqual([{ order_id: "o1", status: "shipped" }]);
    await expect.poll(() => rows("select event from order_audit order by record")).toHaveLength(3);
    await expect.poll(() => rows("select * from mailed")).toEqual([{ order_id: "o1" }]);
    const [list, show, parked, rewind, replay, resume] = commands as string[];
    expect(await type(list!)).toMatch(/order-events +8 +3 +audit-trail +on +0/);
    expect(await type(show!)).toMatch(/order id: what happens[^]*Consumer order-status: on/);
    expect(await type(parked!)).toContain("nothing is parked");
    await kitchen.client.query("delete from order_audit");
    expect(await type(rewind!)).toContain("rewound order-events audit-trail");
    await expect.poll(() => rows("select * from order_audit")).toHaveLength(3);
    expect(await type(replay!)).toContain("replaying 0 records");
    expect(await type(resume!)).toContain("resumed 0 partitions");
    expect(await type('tuntas stream rewind order-events audit-trail --to 5 --reason "x"')).toContain(
      "--partition",
    );
    expect(await type('tuntas stream show "order"')).toContain("TUNTAS_STREAM_MISSING");
  } finally {
    await running.stop();
  }
}, 240_000);

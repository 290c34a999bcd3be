// The recipe for schedules runs as it stands: its code against the built package, its commands by the built command.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { blocksOf, openKitchen, type Kitchen } from "./kitchen.fixture.ts";

const bin = fileURLToPath(new URL("../../lib/bin/tuntas.mjs", import.meta.url));
const commands = blocksOf(new URL("schedules.md", import.meta.url), "sh")[0]!
  .trim()
  .split("\n");

let kitchen: Kitchen;
beforeAll(async () => void (kitchen = await openKitchen("schedules")));
afterAll(() => kitchen.close());

const rows = async () =>
  (await kitchen.client.query("select region, orders, day::text from report order by day")).rows as object[];

async function type(line: string): Promise<string> {
  const words = [...line.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word);
  const env = { ...process.env, DATABASE_URL: kitchen.url };
  const { stdout } = await promisify(execFile)(process.execPath, [bin, ...words.slice(1)], { env });
  return stdout;
}

test("S-10 S-12 V-24 docs/recipes/schedules.md", async () => {
  await kitchen.client.query("create table report (region text, day timestamptz, orders integer)");
  await kitchen.client.query("create table placed (at timestamptz)");
  const { default: declared, start } = await kitchen.recipe("schedules");
  const running = await start(declared, { databaseUrl: kitchen.url });
  try {
    const [list, next, run, pause, resume, show] = commands as [
      string,
      string,
      string,
      string,
      string,
      string,
    ];
    expect(await type(list)).toMatch(
      /nightly-report +on +cron\(0 2 \* \* \? \*\) +Asia\/Jakarta .*queue reports +reports-team/,
    );
    expect((await type(next)).match(/T19:00:00.* 02:00/g)).toHaveLength(3);
    expect(await type(run)).toMatch(/started/);
    await expect.poll(rows).toMatchObject([{ region: "eu", orders: 0 }]);
    await type(run); // the same window again: its key is known, so there is no second report
    await expect.poll(() => type(show), { interval: 300 }).toMatch(/2 +succeeded[^]*1 +succeeded/);
    expect(await rows()).toHaveLength(1);
    expect(await type(pause)).toContain("paused nightly-report");
    expect(await type(list)).toMatch(/nightly-report +paused/);
    expect(await type(resume)).toContain("resumed nightly-report");
    await expect(type('tuntas schedule show "nightly"')).rejects.toMatchObject({ code: 1 });
    await expect(type(`${run} --due yesterday`)).rejects.toMatchObject({ code: 2 });
  } finally {
    await running.stop();
  }
}, 240_000);

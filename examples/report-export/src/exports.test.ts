// A million rows by a process that is killed half-way, and an export that cannot be made.
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Fastify, { type FastifyInstance } from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { toOutline } from "tuntas/asl/graph";
import { testDatabase, type TestDatabase, type TestProcess } from "tuntas/testing";
import { reportExport } from "./exports.ts";

let database: TestDatabase;
let folder: string;
let requesters: FastifyInstance;
const told = new Map<string, any>();
let main: TestProcess;
let url: string;

async function run(): Promise<void> {
  const REQUESTERS_URL = requesters.listeningOrigin;
  main = database.run(new URL("../dist/main.js", import.meta.url), { EXPORT_DIR: folder, REQUESTERS_URL });
  url = `http://127.0.0.1:${(await main.line("service.ready")).port as number}`;
}
beforeAll(async () => {
  requesters = Fastify();
  requesters.post("/", async ({ body, headers }) => {
    told.set(String(headers["idempotency-key"]), body);
    return {};
  });
  await requesters.listen({ host: "127.0.0.1", port: 0 });
  folder = await mkdtemp(join(tmpdir(), "exports-"));
  database = await testDatabase();
  await run();
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await requesters.close();
  await rm(folder, { recursive: true });
});

async function ask(): Promise<string> {
  const response = await fetch(`${url}/exports`, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": String(told.size) },
    body: JSON.stringify({ requestedBy: "ana" }),
  });
  expect(response.status).toBe(202);
  return ((await response.json()) as { exportId: string }).exportId;
}
const show = async (exportId: string): Promise<any> => (await fetch(`${url}/exports/${exportId}`)).json();
const written = async (file: string) => (await stat(join(folder, file))).mtimeMs;

test("E-12: a million rows, killed half-way: what is exported stays, the manifest counts every row, and payloads stay small", async () => {
  const rows = 1_000_000;
  await database.query(
    `insert into export.payment (customer, cents) select case when n % 1000 = 0 then 'Ana, "the" ' || n else 'c' || n end, n % 500 from generate_series(1, $1) n`,
    [rows],
  );
  // The test holds the twelfth of twenty chunks, so that it is killed with some done, one in hand and some to come.
  const holder = await database.connect();
  await database.query(`create function export.hold() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock_shared(42); return new; end $$`);
  await database.query(`create trigger hold before update on export.chunk for each row
    when (new.chunk >= 11) execute function export.hold()`);
  await holder.query("select pg_advisory_lock(42)");
  const exportId = await ask();
  await expect.poll(() => show(exportId)).toMatchObject({ status: "EXPORTING", chunks: 20, chunksDone: 11 });
  expect((await fetch(`${url}/exports/${exportId}/0`)).status).toBe(404); // nothing is seen before all of it is there
  const before = await written(`${exportId}/10.csv`);
  await main.kill();
  await holder.end();
  await run();

  await expect.poll(async () => (await show(exportId)).status).toBe("READY");
  const { manifest } = await show(exportId);
  expect(manifest.rows).toBe(rows);
  expect(await written(`${exportId}/10.csv`)).toBe(before);
  let lines = 0;
  for (const [chunk, file] of manifest.files.entries()) {
    const text = await (await fetch(`${url}/exports/${exportId}/${chunk}`)).text();
    const counted = text.split("\n").length - 1;
    expect(counted).toBe(file.rows);
    lines += counted;
    if (chunk === 0) expect(text).toContain(`\n1000,"Ana, ""the"" 1000",0\n`);
  }
  expect(lines).toBe(rows);
  await expect
    .poll(() => [...told.values()])
    .toEqual([{ exportId, requestedBy: "ana", status: "READY", rows }]);

  // Everything that was handed on, from the start of the process to its end.
  const history = await database.query("select events from tuntas.execution_history");
  const payloads = history.flatMap(({ events }) => [
    ...events.matchAll(/"(?:in|out)put":"((?:[^"\\]|\\.)*)"/g),
  ]);
  expect(payloads.length).toBeGreaterThan(20);
  expect(Math.max(...payloads.map(([, text]) => text.length))).toBeLessThan(1024);
});

test("E-13: one that cannot be made is marked, cleaned up and told of", async () => {
  await database.query("update export.payment set cents = -1 where id = 1");
  const exportId = await ask();
  await expect
    .poll(() => show(exportId))
    .toMatchObject({ status: "FAILED", failure: "PAYMENT_BELOW_ZERO", manifest: null });
  await expect
    .poll(() => [...told.values()])
    .toContainEqual(expect.objectContaining({ exportId, status: "FAILED" }));
  expect(await readdir(folder)).not.toContain(exportId);
});

test("E-13: its process is the one that was drawn", () => {
  expect(toOutline(reportExport.definition as never)).toMatchInlineSnapshot(`
    "• Mark failed [Function · Mark-failed] → Let go
    • Let go [Wait 3 s] → Clean up
    • Clean up [Function · Clean-up] → Tell of the failure
    • Tell of the failure [Function · Tell-of-the-failure] → Failed
    • Failed [Fail]
    ▶ Export [Parallel] → Mark failed (States.ALL)
        ▶ Plan chunks [Function · Plan-chunks] → Export chunks
        • Export chunks [Map] → Merge manifest
            ▶ Export chunk [Function · Export-chunk]
        • Merge manifest [Function · Merge-manifest] → Mark ready
        • Mark ready [Function · Mark-ready] → Notify
        • Notify [Function · Tell-of-the-failure]
    "
  `);
});

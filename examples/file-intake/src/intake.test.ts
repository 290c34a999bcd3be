// Files by real processes: in, out once, killed in the middle, damaged, told of twice; in a folder, and in S3 with SQS.
import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Fastify, { type FastifyInstance } from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { start, type RunningApp } from "tuntas";
import { defaultScope } from "tuntas/queue";
import { testDatabase, type TestDatabase, type TestProcess } from "tuntas/testing";
import intake, { fileNotices, fileWork, largeFileWork, smallBytesMax } from "./intake.ts";
import { paymentsFile } from "./payments.ts";
import { noticeOf } from "./server.ts";

let database: TestDatabase;
let folder: string;
let listener: FastifyInstance;
const told = new Map<string, any>();
let main: TestProcess;
let url: string;

async function run(): Promise<void> {
  main = database.run(new URL("../dist/main.js", import.meta.url), {
    INTAKE_DIR: folder,
    LISTENERS_URL: listener.listeningOrigin,
  });
  url = `http://127.0.0.1:${(await main.line("service.ready")).port as number}`;
}
beforeAll(async () => {
  listener = Fastify();
  listener.post("/", async ({ body, headers }) => {
    told.set(String(headers["idempotency-key"]), body);
    return {};
  });
  await listener.listen({ host: "127.0.0.1", port: 0 });
  folder = await mkdtemp(join(tmpdir(), "intake-"));
  database = await testDatabase();
  await run();
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await listener.close();
  await rm(folder, { recursive: true });
});

async function bytesOf(content: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of content) parts.push(part);
  return Buffer.concat(parts);
}

async function upload(key: string, body: Buffer | string, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/uploads/${encodeURI(key)}`, {
    method: "PUT",
    headers: { "content-type": "text/csv", ...headers },
    body,
  });
  expect(response.status).toBe(201);
  return (await response.json()) as { bucket: string; key: string; version: string; bytes: number };
}
const show = async (key: string): Promise<any> =>
  ((await (await fetch(`${url}/files`)).json()) as any[]).find((each) => each.key === key);
const below = async (path: string): Promise<string[]> =>
  (await readdir(join(folder, path), { recursive: true, withFileTypes: true }).catch(() => []))
    .filter((each) => each.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1));
const toldOf = (key: string) => [...told.values()].filter((each) => each.key === key);

/** How many messages a queue has. */
const countIn =
  ({ platform: { queues } }: RunningApp) =>
  async ({ name }: { name: string }): Promise<number> => {
    const { ready, inFlight, delayed } = await queues.catalog.count(
      await queues.catalog.get(defaultScope, name),
    );
    return ready + inFlight + delayed;
  };

test("F-01 F-04 F-05: a file comes out once, whole, with its record and its news; a new version is a new run", async () => {
  const text = await bytesOf(paymentsFile(3));
  const sha256 = createHash("sha256").update(text).digest("hex");
  const file = await upload("bank a/day 1.csv", text, { "x-amz-meta-sha256": sha256 });
  await expect
    .poll(() => show(file.key))
    .toMatchObject({ state: "DONE", payments: 3, cents: { IDR: "3690" } });
  const { output } = await show(file.key);
  expect(output).toBe(`results/inbox/bank a/day 1.csv/${file.version}.jsonl`);
  const made = await readFile(join(folder, output.replaceAll(" ", "%20")), "utf8");
  expect(made.split("\n")[2]).toBe(
    '{"reference":"payment-0000000002","account":"account-2","currency":"IDR","cents":1230}',
  );
  await expect.poll(() => toldOf(file.key)).toMatchObject([{ version: file.version, output }]);

  // Told of again, both ways; a test event between them is no file.
  await using asking = await start(intake, { databaseUrl: database.url, workers: false });
  await fileNotices.send(noticeOf(file));
  await fileNotices.send({ Service: "Amazon S3", Event: "s3:TestEvent", Bucket: "inbox" });
  const { bucket, key, version, bytes } = file;
  const object = { key, size: bytes, etag: "e", "version-id": version };
  await fileNotices.send({
    source: "aws.s3",
    "detail-type": "Object Created",
    detail: { bucket: { name: bucket }, object },
  });
  const second = await upload(file.key, await bytesOf(paymentsFile(2)));
  await expect.poll(() => below("results")).toHaveLength(2);
  await expect.poll(() => toldOf(file.key)).toHaveLength(2);
  await expect.poll(() => Promise.all([fileNotices, fileWork].map(countIn(asking)))).toEqual([0, 0]);
  expect(await asking.platform.queues.deadLetters.groups(defaultScope, {})).toEqual([]);
  expect(toldOf(file.key).map((each) => each.version)).toEqual([version, second.version]);
});

test("F-07 F-08: killed in the middle of writing, nothing is seen of it; the next process writes all of it once", async () => {
  await database.query(`create function intake.hold() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock_shared(42); return new; end $$`);
  await database.query(`create trigger hold before update on intake.file for each row
    when (new.stage = 'write' and new.bytes_done > 5000000) execute function intake.hold()`);
  const holder = await database.connect();
  await holder.query("select pg_advisory_lock(42)");
  const before = await below("results");
  const payments = 300_000;
  const file = await upload("killed.csv", await bytesOf(paymentsFile(payments)));
  const { bytesDone } = await expect
    .poll(() => show(file.key))
    .toMatchObject({ state: "PROCESSING", stage: "write" })
    .then(() => show(file.key));
  expect(bytesDone).toBeGreaterThan(4_000_000);
  expect(bytesDone).toBeLessThan(file.bytes);
  const begun = `select from pg_locks l join pg_database d on d.oid = l.database
    where d.datname = current_database() and locktype = 'advisory' and not granted`;
  await expect.poll(() => database.query(begun)).toHaveLength(1);
  expect(await below(".staging")).toHaveLength(1);
  await main.kill();
  expect(await below("results")).toEqual(before);
  await expect.poll(() => database.query(begun)).toEqual([]); // what it had asked of the database ends unheard
  await holder.end();
  await run();
  await expect.poll(() => show(file.key)).toMatchObject({ state: "DONE", payments });
  expect(await below("results")).toHaveLength(before.length + 1);
  expect(await below(".staging")).toEqual([]);
  await expect.poll(() => toldOf(file.key)).toHaveLength(1);
});

test("F-03 F-06: a file that is wrong is put aside with the stage that says so, told of, and nothing of it is seen", async () => {
  const before = await below("results");
  const right = String(await bytesOf(paymentsFile(3)));
  await upload("wrong/type.csv", right, { "content-type": "image/png" });
  await upload("wrong/sum.csv", right, { "x-amz-meta-sha256": "0".repeat(64) });
  await upload("wrong/line.csv", right.replace("account-1,", ""));
  await upload("wrong/amount.csv", right.replace("12.30", "much"));
  await upload("wrong/total.csv", right.replace("END,3", "END,4"));
  const states = async () =>
    Promise.all(
      ["type", "sum", "line", "amount", "total"].map(async (name) => {
        const { state, stage, failure } = await show(`wrong/${name}.csv`);
        return [state, stage, failure?.split(":")[0]];
      }),
    );
  await expect.poll(states).toEqual([
    ["QUARANTINED", "check", "CHECK_TYPE"],
    ["QUARANTINED", "check", "CHECK_SUM"],
    ["QUARANTINED", "parse", "PARSE_LINE"],
    ["QUARANTINED", "transform", "TRANSFORM_FIELD"],
    ["QUARANTINED", "validate", "VALIDATE_TOTAL"],
  ]);
  expect([await below("results"), await below(".staging")]).toEqual([before, []]);
  await expect.poll(() => toldOf("wrong/sum.csv")).toMatchObject([{ stage: "check", code: "CHECK_SUM" }]);
});

test("F-09: a large file waits for a process that is for large files", async () => {
  await using asking = await start(intake, { databaseUrl: database.url, workers: false });
  const file = { bucket: "inbox", key: "large.csv", version: "v1", bytes: smallBytesMax + 1 };
  await fileNotices.send(noticeOf(file));
  await expect.poll(() => countIn(asking)(largeFileWork)).toBe(1);
  const large = database.run(new URL("../dist/large.js", import.meta.url), { INTAKE_DIR: folder });
  await large.line("file.begun");
  await expect.poll(() => show(file.key)).toMatchObject({ state: "QUARANTINED", stage: "check" }); // it is not there
});

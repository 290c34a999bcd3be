// Files in a folder, and what S3 tells of files. What every store of files promises is tested beside that of S3
// (aws/src/conformance/files.test.ts).
import { createHash } from "node:crypto";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { folderFiles, s3Notice, type Files } from "./index.ts";

const { signal } = new AbortController();
let root: string;
let files: Files;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "files-"));
  files = folderFiles(root);
});
afterAll(() => rm(root, { recursive: true }));

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

const below = async (folder: string): Promise<string[]> =>
  (await readdir(join(root, folder), { recursive: true, withFileTypes: true }).catch(() => []))
    .filter((each) => each.isFile())
    .map(({ parentPath, name }) => decodeURIComponent(join(parentPath, name).slice(root.length + 1)));

async function* chunks(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

async function textOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  let text = "";
  for await (const chunk of content) text += Buffer.from(chunk).toString();
  return text;
}

test("what a killed attempt has staged is gone with the next one, or when the file is given up", async () => {
  const name = { bucket: "results", key: "killed" };
  let partial: string[] = [];
  async function* looking() {
    yield* chunks("x");
    partial = await below(".staging");
    for (const path of partial) await writeFile(`${join(root, path)}-of-another`, "part");
  }
  await files.put(name, looking(), { contentType: "text/csv", signal });
  expect(partial).toHaveLength(1);
  expect(await below(".staging")).toEqual([]);
  await writeFile(`${join(root, partial[0]!)}-left`, "part");
  await files.discard(name, signal);
  expect(await below(".staging")).toEqual([]);
});

test("F-07: how far a large file is is told while it passes, in both directions", async () => {
  const name = { bucket: "results", key: "large" };
  const seen = { read: 0, written: 0 };
  const count = (message: unknown) => {
    const { bytes, direction } = message as { bytes: number; direction: keyof typeof seen };
    seen[direction] += bytes;
  };
  subscribe("tuntas.file.passed", count);
  const mebibyte = Buffer.alloc(1024 * 1024);
  const before: number[] = [];
  async function* large() {
    for (let part = 0; part < 3; part++) {
      before.push(seen.written);
      yield mebibyte;
    }
    yield Buffer.from("end");
  }
  await files.put(name, large(), { contentType: "text/csv", signal });
  expect([...before, seen.written]).toEqual(
    [0, 1, 2].map((n) => n * mebibyte.length).concat(3 * mebibyte.length + 3),
  );
  for await (const _ of files.read(name, signal)) if (seen.read > 0) break;
  expect(seen.read).toBeGreaterThanOrEqual(mebibyte.length);
  expect(seen.read).toBeLessThan(seen.written);
  unsubscribe("tuntas.file.passed", count);
});

test("versions stand beside each other; a file that was put there by hand is known by its size alone", async () => {
  const key = "in/day.csv";
  for (const version of ["v1", "v2"])
    await files.put({ bucket: "inbox", key, version }, chunks(version), { contentType: "text/csv", signal });
  expect(await textOf(files.read({ bucket: "inbox", key, version: "v1" }, signal))).toBe("v1");
  await mkdir(join(root, "byhand"));
  await writeFile(join(root, "byhand", "x"), "123");
  expect(await files.find({ bucket: "byhand", key: "x" }, signal)).toEqual({
    bytes: 3,
    contentType: null,
    sha256: null,
  });
});

test("what is known of a file is its own: of two that write at once the second leaves nothing of what it said", async () => {
  const name = { bucket: "results", key: "race" };
  const factsBefore = (await below(".facts")).length;
  const said = Array.from({ length: 8 }, (_, n) => `text/x-${n}`);
  for (let round = 0; round < 10; round++) {
    const file = { ...name, version: String(round) };
    const all = await Promise.allSettled(
      said.map((contentType) => files.put(file, chunks(contentType), { contentType, signal })),
    );
    expect(all.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const facts = (await files.find(file, signal))!;
    const content = await textOf(files.read(file, signal));
    expect(facts).toEqual({ bytes: content.length, contentType: content, sha256: sha256(content) });
  }
  expect(await below(".facts")).toHaveLength(factsBefore + 10);
});

test("two names are two files, also where one reads as the other's version; a key below another's file is refused", async () => {
  const csv = { contentType: "text/csv", signal };
  await files.put({ bucket: "names", key: "a", version: "1/2" }, chunks("version"), csv);
  await files.put({ bucket: "names", key: "a@1/2" }, chunks("key"), csv);
  expect(await textOf(files.read({ bucket: "names", key: "a", version: "1/2" }, signal))).toBe("version");
  await files.put({ bucket: "names", key: "b" }, chunks("b"), csv);
  await files.put({ bucket: "names", key: "b.json/c" }, chunks("c"), csv);
  const refused = { code: "TUNTAS_FILE_NAME" };
  await expect(files.put({ bucket: "names", key: "b/c" }, chunks("x"), csv)).rejects.toMatchObject(refused);
  await expect(files.put({ bucket: "names", key: "b.json" }, chunks("x"), csv)).rejects.toMatchObject(
    refused,
  );
  expect(await files.find({ bucket: "names", key: "b.json" }, signal)).toBeUndefined();
  await expect(textOf(files.read({ bucket: "names", key: "b.json" }, signal))).rejects.toMatchObject({
    code: "TUNTAS_FILE_GONE",
  });
  const long = { bucket: "names", key: "l".repeat(255) };
  await files.put(long, chunks("long"), csv);
  expect(await files.find(long, signal)).toMatchObject({ bytes: 4, contentType: "text/csv" });
});

test.each([
  [{ bucket: "results", key: "../../etc/passwd" }, "`..`"],
  [{ bucket: "results", key: "a//b" }, "empty"],
  [{ bucket: "results", key: "" }, "empty"],
  [{ bucket: ".facts", key: "x" }, "bucket"],
  [{ bucket: "results", key: "ä".repeat(50) }, "255 bytes"],
  [{ bucket: "results", key: "a/".repeat(600) + "a" }, "1024 bytes"],
  [{ bucket: "results", key: "\ud800" }, "surrogates"],
])("%j is refused", async (name, why) => {
  await expect(files.put(name, chunks("x"), { contentType: "text/csv", signal })).rejects.toMatchObject({
    code: "TUNTAS_FILE_NAME",
    message: expect.stringContaining(why),
  });
});

const arrivals = (notice: unknown): unknown => {
  const judged = s3Notice["~standard"].validate(notice) as {
    value?: unknown;
    issues?: { message: string }[];
  };
  return judged.value ?? judged.issues![0]!.message;
};
const record = (object: object, eventName = "ObjectCreated:Put") => ({
  Records: [
    { eventVersion: "2.1", eventSource: "aws:s3", eventName, s3: { bucket: { name: "inbox" }, object } },
  ],
});
const event = (object: object, detailType = "Object Created") => ({
  version: "0",
  source: "aws.s3",
  "detail-type": detailType,
  detail: { version: "0", bucket: { name: "inbox" }, object, reason: "PutObject" },
});

test("F-01: direct and by EventBridge one file is the same; a test event and a deletion are none", () => {
  const file = { bucket: "inbox", key: "a b/ä+1.csv", version: "v1", bytes: 7 };
  const facts = { size: 7, sequencer: "0A" };
  expect(arrivals(record({ key: "a+b/%C3%A4%2B1.csv", eTag: "e", versionId: "v1", ...facts }))).toEqual([
    file,
  ]);
  expect(arrivals(event({ key: "a b/ä+1.csv", etag: "e", "version-id": "v1", ...facts }))).toEqual([file]);
  const unversioned = [{ bucket: "inbox", key: "k", version: "etag:e", bytes: 7 }];
  expect(
    arrivals(record({ key: "k", eTag: "e", ...facts }, "ObjectCreated:CompleteMultipartUpload")),
  ).toEqual(unversioned);
  expect(arrivals(event({ key: "k", etag: "e", ...facts }))).toEqual(unversioned);
  expect(arrivals({ Service: "Amazon S3", Event: "s3:TestEvent", Bucket: "inbox" })).toEqual([]);
  expect(arrivals(record({ key: "k" }, "ObjectRemoved:Delete"))).toEqual([]);
  expect(arrivals(event({ key: "k" }, "Object Deleted"))).toEqual([]);
});

test.each([
  [null, "expected a notice of S3"],
  [{ source: "aws.ec2" }, "expected a notice of S3"],
  [{ Records: [null] }, "expected `eventName`"],
  [record({ key: "%E4", size: 1, eTag: "e" }), "URL-encoded"],
  [record({ key: "k", eTag: "e" }), "size"],
  [record({ key: "k", size: 1 }), "version or its ETag"],
  [record({ size: 1, eTag: "e" }), "names of a bucket and an object"],
])("%j is no notice", (notice, why) => {
  expect(arrivals(notice)).toContain(why);
});

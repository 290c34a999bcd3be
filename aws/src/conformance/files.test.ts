// The promises of every store of files, in a folder and in S3 (by the SDK over HTTP), and what only S3 has.
import { CreateBucketCommand, CreateMultipartUploadCommand, ListObjectsV2Command } from "@aws-sdk/client-s3";
import { ListMultipartUploadsCommand, type S3Client } from "@aws-sdk/client-s3";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { folderFiles, type Files } from "tuntas/files";
import { chunks, storeKeepsItsPromises, textOf } from "./files.fixture.ts";
import { makeObjectsClient } from "../client.ts";
import { s3Files } from "../index.ts";
import { openS3, type FakeS3 } from "../s3.fixture.ts";

const { signal } = new AbortController();
const csv = { contentType: "text/csv", signal };
let root: string;
let fake: FakeS3 | undefined;
let client: S3Client;
let files: Files;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "files-"));
  Object.assign(process.env, {
    AWS_ACCESS_KEY_ID: "any",
    AWS_SECRET_ACCESS_KEY: "any",
    AWS_REGION: "us-east-1",
  });
  const elsewhere = process.env.TEST_S3_URL;
  fake = elsewhere === undefined ? await openS3() : undefined;
  const endpoint = elsewhere ?? fake!.url;
  [client, files] = [makeObjectsClient({ endpoint }), s3Files({ endpoint })];
  if (!fake) await client.send(new CreateBucketCommand({ Bucket: "results" }));
});
afterAll(async () => {
  client.destroy();
  await rm(root, { recursive: true });
  await fake?.[Symbol.asyncDispose]();
});

const staged = async () =>
  (await client.send(new ListMultipartUploadsCommand({ Bucket: "results" }))).Uploads?.length ?? 0;

const below = async (folder: string): Promise<string[]> =>
  (await readdir(join(root, folder), { recursive: true, withFileTypes: true }).catch(() => []))
    .filter((each) => each.isFile())
    .map(({ parentPath, name }) => decodeURIComponent(join(parentPath, name).slice(root.length + 1)));

describe("in a folder", () => {
  storeKeepsItsPromises(() => ({
    files: folderFiles(root),
    visible: async () => (await below("")).filter((path) => !path.startsWith(".")).toSorted(),
    staged: async () => (await below(".staging")).length,
  }));
});

async function visibleInS3(): Promise<string[]> {
  if (fake) return [...fake.objects.keys()].toSorted();
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: "results" }));
  return Contents.map(({ Key }) => `results/${Key}`).toSorted();
}

describe("in S3", () => {
  storeKeepsItsPromises(() => ({ files, visible: visibleInS3, staged }));
});

test("F-08: uploads that killed attempts have begun are gone with the next success, or when the file is given up", async () => {
  const begin = (Key: string) => client.send(new CreateMultipartUploadCommand({ Bucket: "results", Key }));
  for (const key of ["killed", "killed", "killed.other"]) await begin(key);
  await files.put({ bucket: "results", key: "killed" }, chunks("x"), csv);
  expect(await staged()).toBe(1); // another file's
  await files.discard({ bucket: "results", key: "killed.other" }, signal);
  expect(await staged()).toBe(0);
});

test("F-04: of a bucket without versions a content that was replaced is missing, and not the one that came after it", async () => {
  const file = { bucket: "results", key: "unversioned", version: "etag:9dd4e461268c8034f5c8564e155c67a6" };
  await files.put({ bucket: "results", key: "unversioned" }, chunks("x"), csv);
  expect(await textOf(files.read(file, signal))).toBe("x");
  const replaced = { ...file, version: "etag:00000000000000000000000000000000" };
  expect(await files.find(replaced, signal)).toBeUndefined();
  await expect(textOf(files.read(replaced, signal))).rejects.toMatchObject({ code: "TUNTAS_FILE_GONE" });
  await expect(files.put(file, chunks("x"), csv)).rejects.toMatchObject({ code: "TUNTAS_FILE_NAME" });
});

// Objects of an S3: read as text, packed or not.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeObjects, type Objects } from "./objects.ts";

const packed = gzipSync('"b","x"\n');
const store: Readonly<Record<string, Buffer>> = {
  "/in/plain.csv": Buffer.from("b,ä\n"),
  "/in/packed.csv.gz": packed,
  "/in/broken.gz": packed.subarray(0, 12),
};
let server: Server;
let objects: Objects;

beforeEach(async () => {
  server = createServer((request, response) => {
    const body = store[request.url!];
    response.writeHead(body ? 200 : 404);
    response.end(body ?? "<Error><Code>NoSuchKey</Code><Message>none</Message></Error>");
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  objects = makeObjects(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

const read = (Key: string) =>
  objects.read("arn:aws:states:::s3:getObject", { Bucket: "in", Key }, new AbortController().signal);

test("an object is read as text, and unpacked where it is packed, as the files of inventories are", async () => {
  expect(await read("plain.csv")).toBe("b,ä\n");
  expect(await read("packed.csv.gz")).toBe('"b","x"\n');
});

test("one that is not there or cannot be unpacked is a failure of the reader", async () => {
  expect(await read("nowhere")).toMatchObject({
    error: "States.ItemReaderFailed",
    cause: expect.stringContaining("Error Code: NoSuchKey"),
  });
  expect(await read("broken.gz")).toMatchObject({
    error: "States.ItemReaderFailed",
    cause: expect.stringContaining("cannot be unpacked"),
  });
});

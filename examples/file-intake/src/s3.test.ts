// The same processes with files in S3 and queues in SQS: notices as they lie there, an output that appears once, nothing in parts left.
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startGateway } from "tuntas/gateway";
import { testDatabase, testPlatform, type TestDatabase, type TestPlatform } from "tuntas/testing";
import { openS3, type FakeS3 } from "../../../aws/src/s3.fixture.ts";
import { paymentsFile } from "./payments.ts";

let s3: FakeS3;
let cloud: TestPlatform;
let database: TestDatabase;
let gateway: Awaited<ReturnType<typeof startGateway>>;
let env: Record<string, string>;
beforeAll(async () => {
  [s3, cloud, database] = await Promise.all([openS3(), testPlatform(), testDatabase()]);
  gateway = await startGateway({ platform: cloud.platform, port: 0 });
  env = {
    AWS_ACCESS_KEY_ID: "any",
    AWS_SECRET_ACCESS_KEY: "any",
    AWS_REGION: "us-east-1",
    AWS_ENDPOINT_URL_S3: s3.url,
    AWS_ENDPOINT_URL_SQS: `http://127.0.0.1:${gateway.port}`,
    INTAKE_STORE: "s3",
    INTAKE_CREATE_QUEUES: "1",
  };
  Object.assign(process.env, env);
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await gateway.close();
  await cloud[Symbol.asyncDispose]();
  await s3[Symbol.asyncDispose]();
});

test("F-01 F-04: a bucket's notice in SQS becomes an object in the results, once; a test event is no poison", async () => {
  const main = database.run(new URL("../dist/main.js", import.meta.url), env);
  await main.line("service.ready");
  const [objects, queues] = [new S3Client({ forcePathStyle: true }), new SQSClient({})];
  const parts: Buffer[] = [];
  for await (const part of paymentsFile(150_000)) parts.push(part); // an output of several parts
  const Body = Buffer.concat(parts);
  const put = new PutObjectCommand({ Bucket: "bank", Key: "a b/day.csv", Body, ContentType: "text/csv" });
  await objects.send(put);
  const { etag } = s3.objects.get("bank/a b/day.csv")!;
  const QueueUrl = `${env.AWS_ENDPOINT_URL_SQS}/000000000000/file-notices`;
  const tell = (notice: object) =>
    queues.send(new SendMessageCommand({ QueueUrl, MessageBody: JSON.stringify(notice) }));
  const bucket = { name: "bank" };
  const direct = { key: "a+b/day.csv", size: Body.length, eTag: etag, sequencer: "0A" };
  const byBus = { key: "a b/day.csv", size: Body.length, etag, sequencer: "0A" };
  await tell({ Service: "Amazon S3", Event: "s3:TestEvent", Bucket: "bank" });
  await tell({ Records: [{ eventName: "ObjectCreated:Put", s3: { bucket, object: direct } }] });
  await tell({ source: "aws.s3", "detail-type": "Object Created", detail: { bucket, object: byBus } });

  const output = `results/bank/a b/day.csv/etag-${etag}.jsonl`;
  await expect.poll(() => s3.objects.get(output)?.body.length).toBeGreaterThan(8 * 1024 * 1024);
  const files = () => database.query("select state, payments::int, output from intake.file");
  await expect.poll(files).toEqual([{ state: "DONE", payments: 150_000, output }]);
  const left = async () =>
    cloud.platform.database.transaction(
      async ({ client }) =>
        (
          await client.query(
            `select (select count(*) from ${cloud.schema}.ready) + (select count(*) from ${cloud.schema}.in_flight) as n`,
          )
        ).rows[0].n,
    );
  await expect.poll(left).toBe("0");
  expect([s3.objects.size, s3.uploads.size]).toEqual([2, 0]);
  expect(await database.query("select code from tuntas.quarantine")).toEqual([]);
  [objects, queues].forEach((client) => client.destroy());
});

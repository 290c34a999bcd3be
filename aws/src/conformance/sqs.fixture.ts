// The tier where queues live in Amazon SQS: here the gateway, over HTTP, by the AWS SDK. Its semantics are those that were
// recorded from AWS (conformance/sqs). It has a database of its own, which the workers know nothing of.
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { defaultScope } from "tuntas/queue";
import { testPlatform, type TestPlatform } from "tuntas/testing";
import { startGateway } from "tuntas/gateway";
import { sqs } from "../index.ts";
import { ask } from "./ask.fixture.ts";
import type { Place, Tier } from "./place.fixture.ts";
import { deadBodies } from "./postgresql.fixture.ts";

export const leaseSeconds = 6;

export interface SqsPlace extends Place {
  /** What stands for AWS. */
  readonly cloud: TestPlatform;
  readonly client: SQSClient;
  readonly url: string;
}

/** Credentials of no account; the SDK wants some. */
export const credentials = { AWS_ACCESS_KEY_ID: "any", AWS_SECRET_ACCESS_KEY: "any", AWS_REGION: "us-east-1" };

export async function openSqs(): Promise<SqsPlace> {
  const [kit, cloud] = [await testPlatform(), await testPlatform()];
  // Signals belong to the process and name queues by id; AWS' are not ours.
  await ask(cloud, "alter sequence tuntas.queue_id_seq restart with 1000");
  const gateway = await startGateway({ platform: cloud.platform, port: 0 });
  const url = `http://127.0.0.1:${gateway.port}`;
  const env = { ...credentials, AWS_ENDPOINT_URL_SQS: url };
  Object.assign(process.env, env);
  const client = new SQSClient({});
  const find = (name: string) => cloud.platform.queues.catalog.get(defaultScope, name);
  const lease = `${leaseSeconds}s` as const;
  return {
    kit,
    cloud,
    client,
    url,
    options: { queues: sqs({ create: true, lease }) },
    child: { env, parts: { databaseUrl: kit.databaseUrl, schema: kit.schema, sqs: { create: true, lease } } },
    leaseMs: leaseSeconds * 1000,
    async sendText(name, body) {
      await client.send(new SendMessageCommand({ QueueUrl: `${url}/000000000000/${name}`, MessageBody: body }));
    },
    async depth(name) {
      const { ready, inFlight, delayed } = await cloud.platform.queues.catalog.count(await find(name));
      const dead = await ask<{ body: string }>(cloud, deadBodies, [`${name}-dlq`]);
      return { waiting: ready + inFlight + delayed, dead: dead.map(({ body }) => body) };
    },
    async rob(name) {
      const query = "update tuntas.in_flight set expires_at = tuntas.now() where queue_id = $1";
      await ask(cloud, query, [(await find(name)).id]);
      await cloud.platform.context.due.sweep();
    },
    async [Symbol.asyncDispose]() {
      client.destroy();
      await kit[Symbol.asyncDispose]();
      await gateway.close();
      await cloud[Symbol.asyncDispose]();
    },
  };
}

export const amazonSqs: Tier = { name: "Amazon SQS", open: openSqs };

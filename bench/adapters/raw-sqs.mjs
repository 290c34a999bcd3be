// The floor of queues over HTTP, for the peers' harness: `node:http` and one prepared statement an operation into one bare
// table. It shares statements as the gateway does, by the library's own driver, and checks, signs and counts nothing: no
// queue on this machine whose messages are on the disk when a send is answered can go below. Started by the harness it is the
// adapter, started with "serve" the server.
import { spawn } from "node:child_process";
import { hash, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { coalescer } from "../../lib/dist/core/coalesce.js";
import { pgArray } from "../../lib/dist/pg/arrays.js";
import { openDatabase, statement } from "../../lib/dist/pg/database.js";
import gateway from "./tuntas-sqs.mjs";

const table = statement(
  "create table bench_message (id bigint generated always as identity primary key, message_id uuid, body text, hidden_until timestamptz)",
);
const insert = statement(
  "insert into bench_message (message_id, body) select i::uuid, b from unnest($1::text[], $2::text[]) as u(i, b)",
);
// From a little before the last one that was claimed, so that no claim walks over what is gone.
const claim =
  statement(`update bench_message set hidden_until = now() + interval '30 s' where ctid = any(array(
    select ctid from bench_message where hidden_until is null and id >= $2 order by id limit $1 for update skip locked))
  returning id, message_id as "messageId", body`);
const remove = statement("delete from bench_message where id = any($1::bigint[])");

const linger = { turn: setImmediate, turnsMax: 12, emptyMax: 2, enough: 48 };
const shared = (flush, itemsMax = Infinity) =>
  coalescer({ itemsMax, costMax: 500, cost: (part) => part.length ?? part, flushesMax: 2, linger, flush });

function operationsOn(database) {
  let from = 0;
  const sends = shared(async (parts) => {
    const all = parts.flat();
    await database.run(insert, [
      pgArray.text(all.map(({ id }) => id)),
      pgArray.text(all.map(({ body }) => body)),
    ]);
    return parts;
  });
  const receives = shared(async (counts) => {
    const rows = await database.run(claim, [counts.reduce((sum, n) => sum + n, 0), String(from)]);
    if (rows.length > 0) from = Math.max(0, Number(rows.at(-1).id) - 200);
    let at = 0;
    return counts.map((count) => rows.slice(at, (at += count)));
  }, 100);
  const deletes = shared(async (parts) => {
    await database.run(remove, [pgArray.bigint(parts.flat())]);
    return parts;
  });
  const sent = ({ id, body }) => ({ MessageId: id, MD5OfMessageBody: hash("md5", body, "hex") });
  const messageOf = ({ MessageBody: body }) => ({ id: randomUUID(), body });
  return {
    CreateQueue: ({ QueueName }) => ({ QueueUrl: `http://localhost/${QueueName}` }),
    SendMessage: async (input) => sent((await sends.add([messageOf(input)]))[0]),
    SendMessageBatch: async ({ Entries }) => {
      const all = await sends.add(Entries.map(messageOf));
      return { Successful: all.map((each, index) => ({ Id: Entries[index].Id, ...sent(each) })) };
    },
    ReceiveMessage: async ({ MaxNumberOfMessages: count }) => ({
      Messages: (await receives.add(count)).map(({ id, messageId, body }) => ({
        MessageId: messageId,
        ReceiptHandle: id,
        MD5OfBody: hash("md5", body, "hex"),
        Body: body,
      })),
    }),
    DeleteMessage: async ({ ReceiptHandle }) => void (await deletes.add([ReceiptHandle])),
    DeleteMessageBatch: async ({ Entries }) => {
      await deletes.add(Entries.map(({ ReceiptHandle }) => ReceiptHandle));
      return { Successful: Entries.map(({ Id }) => ({ Id })) };
    },
  };
}

async function serve() {
  const database = await openDatabase({ url: process.env.DATABASE_URL });
  await database.run(table);
  const operations = operationsOn(database);
  const server = createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", async () => {
      const name = request.headers["x-amz-target"].slice("AmazonSQS.".length);
      const answer = await operations[name](JSON.parse(Buffer.concat(chunks)));
      const text = answer ? JSON.stringify(answer) : "";
      response.writeHead(200, { "content-length": Buffer.byteLength(text) });
      response.end(text);
    });
  });
  server.listen(0, "127.0.0.1", () =>
    console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })),
  );
  process.once("SIGTERM", () => process.exit(0));
}

if (process.argv[2] === "serve") await serve();

export default {
  ...gateway,
  name: "raw-sqs",
  start: (env) =>
    spawn(process.execPath, [fileURLToPath(import.meta.url), "serve"], {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    }),
};

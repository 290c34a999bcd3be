// A post office to try the example with: a service of its own, with a table of its own. It takes a letter once for a key
// and sends a receipt for it, again and again until somebody takes it, as the real one would.
import { randomUUID } from "node:crypto";
import Fastify, { type FastifyInstance } from "fastify";
import type { Database } from "tuntas";
import { listenAt, type Listening } from "tuntas/fastify";

export interface PostOfficeOptions {
  readonly database: Database;
  /** Where receipts go; undefined sends none. */
  readonly receiptsUrl: () => string | undefined;
}

const tables = `create schema if not exists post;
  create table if not exists post.letter (key text primary key, reference text not null, posts integer not null default 1, receipted_at timestamptz)`;

/** How many letters it asks for a receipt at a time. */
const lettersMax = 50;

async function sendReceipts(database: Database, url: string): Promise<number> {
  const open = {
    name: "post_open",
    text: `select key from post.letter where receipted_at is null limit ${lettersMax}`,
  };
  const keys = (await database.run<{ key: string }>(open)).map(({ key }) => key);
  for (const key of keys) {
    const response = await fetch(`${url}/receipts/${encodeURIComponent(key)}`, {
      method: "POST",
      signal: AbortSignal.timeout(5000),
    });
    if (!response.ok) continue;
    const done = { name: "post_done", text: "update post.letter set receipted_at = now() where key = $1" };
    await database.run(done, [key]);
  }
  return keys.length;
}

const receiptsEveryMs = 500;

/** The post office, ready to listen. */
export async function makePostOffice({ database, receiptsUrl }: PostOfficeOptions): Promise<FastifyInstance> {
  await database.transaction(({ client }) => client.query(tables));
  const server = Fastify();
  const find = { name: "post_find", text: "select reference from post.letter where key = $1" };
  const take = {
    name: "post_take",
    text: "insert into post.letter as l (key, reference) values ($1, $2) on conflict (key) do update set posts = l.posts + 1 returning reference",
  };
  server.post("/letters", async (request, reply) => {
    const key = request.headers["idempotency-key"];
    if (typeof key !== "string") return reply.code(400).send({ error: "no Idempotency-Key" });
    const [letter] = await database.run(take, [key, `POST-${randomUUID()}`]);
    return letter;
  });
  server.get<{ Params: { key: string } }>("/letters/:key", async ({ params }, reply) => {
    const [letter] = await database.run(find, [params.key]);
    return letter ?? reply.code(404).send({ error: "no such letter" });
  });
  let timer: NodeJS.Timeout | undefined;
  const again = async (): Promise<void> => {
    const url = receiptsUrl();
    if (url !== undefined) await sendReceipts(database, url).catch(() => 0);
    timer = setTimeout(() => void again(), receiptsEveryMs);
  };
  server.addHook("onReady", async () => void again());
  server.addHook("onClose", async () => clearTimeout(timer));
  return server;
}

/** A post office that listens; NOTICE_URL of this process names it where it is not set. */
export async function openPostOffice(options: PostOfficeOptions): Promise<Listening> {
  const at = { host: "127.0.0.1", port: 0, variable: "NOTICE_URL" };
  const office = await listenAt(await makePostOffice(options), at);
  process.env.NOTICE_URL ||= office.url;
  return office;
}

// A mutating request takes place once however often it is sent: its key, the hash of what was asked and the answer are
// one row (tuntas.command), written in the request's own transaction. While that runs it holds a lock on the key, which
// ends with it, whatever happens to this process.
import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { httpErrors } from "./contract.ts";
import type { Bound, RequestTransaction } from "./transaction.ts";

export interface Key {
  readonly scope: string;
  readonly key: string;
  readonly requestHash: string;
}

interface StoredAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const mutating = new Set(["POST", "PUT", "PATCH", "DELETE"]);
const usable = /^[\x20-\x7e]{1,255}$/;
const replayedHeaders = ["content-type", "location"];

const hashOf = (request: FastifyRequest): string => {
  const { body } = request;
  const text = Buffer.isBuffer(body) ? body : JSON.stringify(body ?? null);
  return createHash("sha256").update(`${request.method} ${request.url}\n`).update(text).digest("base64url");
};

/** The request's key where its route takes one. Errors: TUNTAS_HTTP_KEY_MISSING, TUNTAS_HTTP_KEY_INVALID. */
export function keyOf(request: FastifyRequest, caller: string | undefined): Key | undefined {
  const { config, url } = request.routeOptions;
  const policy = config.idempotency ?? (mutating.has(request.method) ? "required" : "off");
  if (policy === "off" || request.is404) return undefined;
  const key = request.headers["idempotency-key"];
  if (key === undefined) {
    if (policy === "optional") return undefined;
    throw httpErrors.error(
      "TUNTAS_HTTP_KEY_MISSING",
      `expected an Idempotency-Key header on ${request.method} ${url}`,
    );
  }
  if (typeof key !== "string" || !usable.test(key)) {
    throw httpErrors.error(
      "TUNTAS_HTTP_KEY_INVALID",
      `expected an Idempotency-Key of 1 to 255 printable ASCII characters, got ${JSON.stringify(key)}`,
    );
  }
  const scope = `http:${request.method} ${url}${caller === undefined ? "" : `#${caller}`}`;
  return { scope, key, requestHash: hashOf(request) };
}

const lock = (key: Key): Bound => ({
  name: "tuntas_http_lock",
  text: "select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as free",
  values: [`${key.scope} ${key.key}`],
});

const find = (key: Key): Bound => ({
  name: "tuntas_http_find",
  text: `select request_hash as "requestHash", result from tuntas.command where scope = $1 and key = $2 and expires_at > tuntas.now()`,
  values: [key.scope, key.key],
});

/** Writes the answer under the key; the last statement before the commit. */
export const record = (
  { scope, key, requestHash }: Key,
  answer: StoredAnswer,
  retentionSeconds: number,
): Bound => ({
  name: "tuntas_http_record",
  text: `insert into tuntas.command (scope, key, request_hash, result, created_at, expires_at)
    values ($1, $2, $3, $4, tuntas.now(), tuntas.now() + make_interval(secs => $5))
    on conflict (scope, key) do update set request_hash = excluded.request_hash, result = excluded.result,
      created_at = excluded.created_at, expires_at = excluded.expires_at`,
  values: [scope, key, requestHash, JSON.stringify(answer), retentionSeconds],
});

/**
 * Takes the key for this request; answers the first answer where there is one already.
 * Errors: TUNTAS_HTTP_KEY_IN_PROGRESS, TUNTAS_HTTP_KEY_REUSED.
 */
export async function takeKey(transaction: RequestTransaction, key: Key): Promise<StoredAnswer | undefined> {
  // The look-up is a statement of its own after the lock, so that it sees what the last holder committed.
  const [locked, found] = await transaction.run([lock(key), find(key)]);
  const known = found![0] as { requestHash: string; result: string } | undefined;
  if (known === undefined) {
    if (locked![0].free) return undefined;
    throw httpErrors.error(
      "TUNTAS_HTTP_KEY_IN_PROGRESS",
      "the first request with this Idempotency-Key has not been answered yet",
    );
  }
  if (known.requestHash !== key.requestHash) {
    throw httpErrors.error(
      "TUNTAS_HTTP_KEY_REUSED",
      "this Idempotency-Key belongs to a request with another body or address",
    );
  }
  return JSON.parse(known.result) as StoredAnswer;
}

export function answerOf(reply: FastifyReply, payload: unknown): StoredAnswer {
  if (typeof payload !== "string" && payload !== undefined && payload !== null) {
    throw httpErrors.error("TUNTAS_HTTP_RESULT", `expected an answer that is text, got ${typeof payload}`);
  }
  const headers = Object.fromEntries(
    replayedHeaders.flatMap((name) => (reply.hasHeader(name) ? [[name, String(reply.getHeader(name))]] : [])),
  );
  return { status: reply.statusCode, headers, body: payload ?? "" };
}

export const replay = (reply: FastifyReply, { status, headers, body }: StoredAnswer): FastifyReply =>
  reply.code(status).headers(headers).header("idempotency-replayed", "true").send(body);

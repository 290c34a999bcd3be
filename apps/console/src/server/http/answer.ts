// Answers: JSON that nobody stores, and problems with their code (RFC 9457).
import type { ServerResponse } from "node:http";
import { isTuntasError } from "tuntas";
import { statusOf } from "tuntas/access";
import type { Problem } from "../../api/index.ts";
import { consoleErrors } from "../../contract.ts";

const statuses: Readonly<Record<string, number>> = {
  TUNTAS_CONSOLE_REQUEST: 400,
  TUNTAS_CONSOLE_MISSING: 404,
  TUNTAS_CONSOLE_TOO_LARGE: 413,
  TUNTAS_CONSOLE_API: 502,
  TUNTAS_QUEUE_MISSING: 404,
  TUNTAS_COMMAND_MISSING: 404,
  TUNTAS_COMMAND_DENIED: 403,
  TUNTAS_COMMAND_FOUR_EYES: 403,
  TUNTAS_DATABASE_UNREACHABLE: 503,
  TUNTAS_DATABASE_BUSY: 503,
  TUNTAS_DATABASE_FULL: 503,
  TUNTAS_CONNECTIONS_OUT: 503,
};

/** Any other coded error is a refusal of what was asked: the state of things does not allow it. */
const refused = 409;

/** What the asker is told; an error that nobody expected tells nothing of itself. */
export function problemOf(cause: unknown): Problem {
  if (!isTuntasError(cause))
    return {
      ...problemOf(consoleErrors.error("TUNTAS_CONSOLE_FAILED", "the cause is in the server's log")),
      status: 500,
    };
  const { code, message, remedy } = cause;
  return { status: statusOf(cause) ?? statuses[code] ?? refused, title: code, detail: message, code, remedy };
}

export function writeJson(
  response: ServerResponse,
  body: unknown,
  { status = 200, type = "application/json", headers = {} }: JsonOptions = {},
): void {
  if (response.destroyed || response.headersSent) return;
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, {
    "cache-control": "no-store",
    "content-type": `${type}; charset=utf-8`,
    "content-length": bytes.length,
    ...headers,
  });
  response.end(bytes);
}

interface JsonOptions {
  readonly status?: number;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The connection ends with it where the request was not read to its end. */
export function writeProblem(response: ServerResponse, problem: Problem): void {
  const headers: Record<string, string> = response.req.complete ? {} : { connection: "close" };
  writeJson(response, problem, { status: problem.status, type: "application/problem+json", headers });
}

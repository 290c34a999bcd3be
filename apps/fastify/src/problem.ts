// Errors as HTTP answers: one model (RFC 9457), one place that says which error is which status.
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { isTuntasError, type Log, type TuntasError } from "tuntas";
import { httpErrors, type TuntasHttpOptions } from "./contract.ts";

const statuses: Readonly<Record<string, number>> = {
  TUNTAS_HTTP_INVALID: 400,
  TUNTAS_HTTP_PERSON: 401,
  TUNTAS_HTTP_TENANT: 400,
  TUNTAS_HTTP_TENANT_RATE: 429,
  TUNTAS_HTTP_NOT_FOUND: 404,
  TUNTAS_HTTP_KEY_MISSING: 400,
  TUNTAS_HTTP_KEY_INVALID: 400,
  TUNTAS_HTTP_KEY_REUSED: 422,
  TUNTAS_HTTP_KEY_IN_PROGRESS: 409,
  TUNTAS_HTTP_INTERNAL: 500,
  TUNTAS_MESSAGE_INVALID: 400,
  TUNTAS_MESSAGE_TEXT: 400,
  TUNTAS_MESSAGE_SIZE: 413,
  TUNTAS_RECORD_INVALID: 400,
  TUNTAS_WORKFLOW_INPUT: 400,
  TUNTAS_ANSWER_LATE: 409,
  TUNTAS_APPROVAL_INVALID: 400,
  TUNTAS_APPROVAL_OWN: 403,
  TUNTAS_APPROVAL_DENIED: 403,
  TUNTAS_APPROVAL_MISSING: 404,
  TUNTAS_APPROVAL_SIGNED: 409,
  TUNTAS_APPROVAL_OVER: 409,
  TUNTAS_APPROVAL_LATE: 409,
  TUNTAS_BATCH_INPUT: 400,
  TUNTAS_BATCH_MISSING: 404,
  TUNTAS_BATCH_STATE: 409,
};

interface Answer {
  readonly status: number;
  readonly error: TuntasError;
}

const answerOf = (error: TuntasError): Answer => ({
  error,
  status: statuses[error.code] ?? (error.retryable ? 503 : 500),
});

/** A short name of the status, as RFC 9110 has it. */
const titles: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  409: "Conflict",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Content",
  429: "Too Many Requests",
  503: "Service Unavailable",
};

function fromFastify(error: FastifyError): Answer {
  if (error.code === "FST_ERR_HANDLER_TIMEOUT") {
    return answerOf(
      httpErrors.error("TUNTAS_HTTP_BUDGET", "the request took longer than its budget", { cause: error }),
    );
  }
  const status = error.statusCode ?? 500;
  if (status >= 400 && status < 500) {
    // What `curl -d` sends without a header, and Fastify does not say what it would take.
    const text = status === 415 ? "expected a body of content-type application/json" : error.message;
    return { status, error: httpErrors.error("TUNTAS_HTTP_INVALID", text, { cause: error }) };
  }
  // What an unknown error says may hold a secret; it goes to the log, not to the caller.
  return answerOf(httpErrors.error("TUNTAS_HTTP_INTERNAL", "the service failed", { cause: error }));
}

function answer(error: Error, statusOf: TuntasHttpOptions["statusOf"]): Answer {
  const own = statusOf?.(error);
  if (isTuntasError(error)) return own === undefined ? answerOf(error) : { status: own, error };
  if (own !== undefined)
    return { status: own, error: httpErrors.error("TUNTAS_HTTP_INVALID", error.message, { cause: error }) };
  return fromFastify(error as FastifyError);
}

function sendProblem(request: FastifyRequest, reply: FastifyReply, { status, error }: Answer): void {
  if ((status === 503 || status === 409) && !reply.hasHeader("retry-after")) reply.header("retry-after", "1");
  void reply
    .code(status)
    .type("application/problem+json")
    .send(
      JSON.stringify({
        type: `urn:tuntas:error:${error.code}`,
        title: titles[status] ?? (status < 500 ? "Request Refused" : "Internal Server Error"),
        status,
        detail: error.message,
        instance: request.url.split("?", 1)[0],
        code: error.code,
        remedy: error.remedy,
        correlationId: request.correlationId,
        ...error.details,
      }),
    );
}

/** Makes every error of the server a problem. */
export function answerWithProblems(
  server: FastifyInstance,
  log: Log,
  statusOf: TuntasHttpOptions["statusOf"],
): void {
  server.setErrorHandler((error: Error, request, reply) => {
    const known = answer(error, statusOf);
    if (known.status >= 500) {
      log.error(
        {
          event: "http.error",
          cause: known.error.cause ?? known.error,
          code: known.error.code,
          correlationId: request.correlationId,
        },
        error.message,
      );
    }
    sendProblem(request, reply, known);
  });
  server.setNotFoundHandler((request, reply) => {
    sendProblem(
      request,
      reply,
      answerOf(
        httpErrors.error(
          "TUNTAS_HTTP_NOT_FOUND",
          `there is nothing at ${request.method} ${request.url.split("?", 1)[0]}`,
        ),
      ),
    );
  });
}

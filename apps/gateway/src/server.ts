// The HTTP server: bodies in, replies out, with limits on both. It knows nothing of queues.
import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer, STATUS_CODES } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { gatewayErrors } from "./contract.ts";
import type { Delivery, Dispatch, Reply } from "./dispatch.ts";
import { renderJsonFailure } from "./dispatch.ts";
import { jsonType } from "./protocol/json.ts";
import { genericErrors, WireError } from "./wire.ts";

export interface Listening {
  readonly port: number;
  /** Takes no more requests, ends long polls with what they have, and resolves when all answers are written. */
  close(): Promise<void>;
}

/** Answers what is not AWS's, such as a console's pages; false for what it leaves to the gateway. */
export type Pages = (request: IncomingMessage, response: ServerResponse) => boolean;

export interface ServerOptions {
  readonly port: number;
  readonly host: string;
  readonly dispatch: Dispatch;
  /** Whether the server can do its work. */
  readonly isReady: () => Promise<boolean>;
  /** Whether who sends this Authorization header may read /metrics. */
  readonly mayReadMetrics: (authorization: string | undefined) => Promise<boolean>;
  /** The text of /metrics. */
  readonly metrics: () => Promise<Pick<Reply, "type" | "body">>;
  readonly pages?: Pages | undefined;
}

// A batch of 1 MiB in which JSON escapes every character with six bytes, and some.
const bodyBytesMax = 8 * 1024 * 1024;
const headerBytesMax = 64 * 1024;
const timeouts = { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 75_000 };
const discardMs = 2000;
const closeGraceMs = 5000;
const healthPath = "/_tuntas/health";
const metricsPath = "/metrics";

const tooLarge = renderJsonFailure(
  new WireError(genericErrors.tooLarge, `A request has at most ${bodyBytesMax} bytes.`),
);

/**
 * The whole body. One that is too large is read on for a moment and thrown away: a client that is cut off while it still
 * writes never reads the answer.
 */
function readBody(request: IncomingMessage): Promise<Buffer | "too large" | "gone"> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let discarding: NodeJS.Timeout | undefined;
    const discard = () => {
      chunks.length = 0;
      discarding = setTimeout(() => resolve("too large"), discardMs);
    };
    const end = (outcome: Buffer | "too large" | "gone") => {
      clearTimeout(discarding);
      resolve(outcome);
    };
    if (Number(request.headers["content-length"]) > bodyBytesMax) discard();
    request.on("data", (chunk: Buffer) => {
      if (discarding) return;
      size += chunk.length;
      if (size > bodyBytesMax) discard();
      else chunks.push(chunk);
    });
    request.on("end", () =>
      end(discarding ? "too large" : chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)),
    );
    request.on("error", () => end("gone"));
    request.on("close", () => end("gone"));
  });
}

/** Answers a connection whose request could not even be parsed. */
function refuseConnection(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable) return void socket.destroy();
  const status = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 }[error.code ?? ""] ?? 400;
  const text = STATUS_CODES[status]!;
  const kind = status === 408 ? genericErrors.timeout : genericErrors.malformedRequest;
  const { body } = renderJsonFailure(new WireError(kind, text));
  socket.end(
    `HTTP/1.1 ${status} ${text}\r\nConnection: close\r\nContent-Type: ${jsonType}\r\n` +
      `x-amzn-requestid: ${randomUUID()}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

/** What one response promises to whoever waits: to abort when the client has gone, and to say so. */
function makeDelivery(response: ServerResponse, waiting: Set<AbortController>): Delivery {
  const isLost = () => response.destroyed && !response.writableFinished;
  const onLost = (tell: () => void) => {
    if (isLost()) tell();
    else response.once("close", () => void (isLost() && tell()));
  };
  return {
    waiting() {
      const controller = new AbortController();
      waiting.add(controller);
      response.once("close", () => waiting.delete(controller));
      onLost(() => controller.abort());
      return controller.signal;
    },
    onUndelivered: onLost,
  };
}

function write(
  response: ServerResponse,
  { requestId, last }: { requestId: string; last: boolean },
  reply: Reply,
): void {
  const headers: Record<string, string | number> = {
    "x-amzn-requestid": requestId,
    "content-type": reply.type,
    "content-length": Buffer.byteLength(reply.body),
  };
  if (reply.queryError !== undefined) headers["x-amzn-query-error"] = reply.queryError;
  if (reply.errorType !== undefined) headers["x-amzn-errortype"] = reply.errorType;
  if (last) headers.connection = "close";
  response.writeHead(reply.status, headers);
  response.end(reply.body);
}

async function health(isReady: () => Promise<boolean>): Promise<Reply> {
  const [status, text] = (await isReady()) ? [200, "ready"] : [503, "unavailable"];
  return { status, type: "application/json", body: JSON.stringify({ status: text }) };
}

async function metricsPage(
  { mayReadMetrics, metrics }: Pick<ServerOptions, "mayReadMetrics" | "metrics">,
  { authorization }: IncomingHttpHeaders,
): Promise<Reply> {
  if (await mayReadMetrics(authorization)) return { status: 200, ...(await metrics()) };
  const body = JSON.stringify({
    code: "TUNTAS_ACCESS_UNKNOWN",
    message: "send Authorization: Bearer ID.SECRET",
  });
  return { status: 401, type: "application/json", body };
}

function cannotListen(cause: NodeJS.ErrnoException, port: number, host: string): Error {
  const options = { cause, details: { port, host } };
  return cause.code === "EADDRINUSE"
    ? gatewayErrors.error("TUNTAS_PORT_TAKEN", `port ${port} on ${host} is taken (TUNTAS_PORT)`, options)
    : gatewayErrors.error(
        "TUNTAS_PORT_REFUSED",
        `cannot listen on ${host}, port ${port} (TUNTAS_PORT): ${cause.message}`,
        options,
      );
}

function bind(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => reject(cannotListen(cause, port, host)));
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

const hostForm = /^[A-Za-z0-9.:_[\]-]+$/;

/** Errors: TUNTAS_PORT_TAKEN, TUNTAS_PORT_REFUSED. */
export async function listen(options: ServerOptions): Promise<Listening> {
  const { dispatch, isReady, pages } = options;
  const waiting = new Set<AbortController>();
  const ownPages: Readonly<Record<string, (headers: IncomingHttpHeaders) => Promise<Reply>>> = {
    [healthPath]: () => health(isReady),
    [metricsPath]: (given) => metricsPage(options, given),
  };
  let closing = false;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const requestId = randomUUID();
    const { method = "GET", url = "/", headers } = request;
    const body = await readBody(request);
    if (body === "gone") return;
    if (body === "too large") return write(response, { requestId, last: true }, tooLarge);
    const host =
      headers.host !== undefined && hostForm.test(headers.host) ? headers.host : `${options.host}:${port}`;
    const own = method === "GET" ? ownPages[url] : undefined;
    const reply = own
      ? await own(headers)
      : await dispatch(
          { method, url, headers, body, requestId, origin: `http://${host}` },
          makeDelivery(response, waiting),
        );
    if (!response.destroyed) write(response, { requestId, last: closing }, reply);
  }

  const server = createServer(
    { ...timeouts, maxHeaderSize: headerBytesMax, noDelay: true },
    (request, response) => {
      // An AWS client names its operation in a header, and no page does.
      if (request.headers["x-amz-target"] === undefined && pages?.(request, response)) return;
      void answer(request, response).catch(() => response.destroy());
    },
  );
  server.on("clientError", refuseConnection);
  const port = await bind(server, options.port, options.host);

  return {
    port,
    async close() {
      closing = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const controller of waiting) controller.abort();
      const timer = setTimeout(() => server.closeAllConnections(), closeGraceMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

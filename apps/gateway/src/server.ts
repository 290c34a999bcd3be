// The HTTP server: bodies in, replies out, with limits on both. It knows nothing of queues.
import { randomUUID } from "node:crypto";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer, STATUS_CODES } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { gatewayErrors } from "./contract.ts";
import type { Delivery, Dispatch, Reply } from "./dispatch.ts";
import { jsonType } from "./protocol/json.ts";

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
  readonly pages?: Pages | undefined;
}

// A batch of 1 MiB in which JSON escapes every character with six bytes, and some.
const bodyBytesMax = 8 * 1024 * 1024;
const headerBytesMax = 64 * 1024;
const timeouts = { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 75_000 };
const closeGraceMs = 5000;
const healthPath = "/_tuntas/health";

const tooLarge: Reply = {
  status: 413,
  type: jsonType,
  body: JSON.stringify({
    __type: "com.amazon.coral.service#RequestEntityTooLargeException",
    message: `A request has at most ${bodyBytesMax} bytes.`,
  }),
  queryError: "RequestEntityTooLarge;Sender",
};

/** The whole body, or undefined where it is larger than it may be or the client went away before its end. */
function readBody(request: IncomingMessage): Promise<Buffer | "too large" | "gone"> {
  if (Number(request.headers["content-length"]) > bodyBytesMax) return Promise.resolve("too large");
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= bodyBytesMax) chunks.push(chunk);
      else resolve("too large");
    });
    request.on("end", () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    request.on("error", () => resolve("gone"));
    request.on("close", () => resolve("gone"));
  });
}

const hostForm = /^[A-Za-z0-9.:_[\]-]+$/;

/** Answers a connection whose request could not even be parsed. */
function refuseConnection(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable) return void socket.destroy();
  const status = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 }[error.code ?? ""] ?? 400;
  const body = JSON.stringify({
    __type: "com.amazon.coral.service#MalformedHttpRequestException",
    message: STATUS_CODES[status],
  });
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: ${jsonType}\r\n` +
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

function listening(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      const taken = cause.code === "EADDRINUSE";
      reject(
        gatewayErrors.error(
          taken ? "TUNTAS_PORT_TAKEN" : "TUNTAS_PORT_REFUSED",
          taken
            ? `port ${port} on ${host} is taken (TUNTAS_PORT)`
            : `cannot listen on ${host}, port ${port} (TUNTAS_PORT): ${cause.message}`,
          { cause, details: { port, host } },
        ),
      );
    });
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

/** Errors: TUNTAS_PORT_TAKEN, TUNTAS_PORT_REFUSED. */
export async function listen({
  port: wantedPort,
  host,
  dispatch,
  isReady,
  pages,
}: ServerOptions): Promise<Listening> {
  const waiting = new Set<AbortController>();
  let closing = false;
  let port = wantedPort;

  function write(response: ServerResponse, requestId: string, reply: Reply): void {
    const headers: Record<string, string | number> = {
      "x-amzn-requestid": requestId,
      "content-type": reply.type,
      "content-length": Buffer.byteLength(reply.body),
    };
    if (reply.queryError !== undefined) headers["x-amzn-query-error"] = reply.queryError;
    if (closing || reply === tooLarge) headers.connection = "close";
    response.writeHead(reply.status, headers);
    response.end(reply.body);
  }

  async function health(): Promise<Reply> {
    const ready = !closing && (await isReady());
    const status = ready ? "ready" : "unavailable";
    return { status: ready ? 200 : 503, type: "application/json", body: JSON.stringify({ status }) };
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const requestId = randomUUID();
    const { method = "GET", url = "/", headers } = request;
    const body = await readBody(request);
    if (body === "gone") return;
    if (body === "too large") return write(response, requestId, tooLarge);
    const hostSeen =
      headers.host !== undefined && hostForm.test(headers.host) ? headers.host : `${host}:${port}`;
    const reply =
      method === "GET" && url === healthPath
        ? await health()
        : await dispatch(
            { method, url, headers, body, requestId, origin: `http://${hostSeen}` },
            makeDelivery(response, waiting),
          );
    if (!response.destroyed) write(response, requestId, reply);
  }

  const server = createServer(
    { ...timeouts, maxHeaderSize: headerBytesMax, noDelay: true },
    (request, response) => {
      if (!pages?.(request, response)) void answer(request, response).catch(() => response.destroy());
    },
  );
  server.on("clientError", refuseConnection);
  port = await listening(server, wantedPort, host);

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

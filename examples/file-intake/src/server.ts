// The HTTP side: how far a file is, and its output. Where files come into a folder it is also how they come: as a PUT to S3 would do,
// with the same notice of it.
import { randomUUID } from "node:crypto";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { RunningApp } from "tuntas";
import type { Arrival } from "tuntas/files";
import { httpErrors, tuntasHttp } from "tuntas/fastify";
import { fileNotices } from "./intake.ts";
import { places } from "./places.ts";
import { findFile, listFiles, type FileRow, type Tx } from "./store.ts";

/** As S3 tells of a file. */
export const noticeOf = ({ bucket, key, version, bytes }: Arrival) => ({
  Records: [
    {
      eventVersion: "2.1",
      eventSource: "aws:s3",
      eventName: "ObjectCreated:Put",
      s3: {
        bucket: { name: bucket },
        object: { key: encodeURIComponent(key).replaceAll("%20", "+"), size: bytes, versionId: version },
      },
    },
  ],
});

const longBecause = "a file is as long as it is";

function sumOf(request: FastifyRequest): string | undefined {
  const said = request.headers["x-amz-meta-sha256"];
  if (said === undefined || (typeof said === "string" && /^[0-9a-f]{64}$/.test(said))) return said;
  throw httpErrors.error("TUNTAS_HTTP_INVALID", "x-amz-meta-sha256: expected 64 hexadecimal digits");
}

/** Of a caller who goes away. Fastify's own signal aborts once a streamed body has been read. */
function endOf({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  raw.once("close", () => {
    if (!raw.writableFinished) gone.abort(new Error("the caller has gone away"));
  });
  return gone.signal;
}

function takeUploads(server: FastifyInstance, bucket: string): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("*", (_request, payload, done) => done(null, payload));
  server.put<{ Params: { "*": string }; Body: AsyncIterable<Uint8Array> }>(
    "/uploads/*",
    {
      bodyLimit: 100 * 1024 ** 3,
      handlerTimeout: 3_600_000,
      config: { idempotency: "off", longBecause, summary: "Take a file; each PUT is a version of its own" },
    },
    async (request, reply) => {
      const { params, headers, body, tx } = request;
      const file = { bucket, key: params["*"], version: randomUUID() };
      const { bytes } = await places.files.put(file, body, {
        contentType: headers["content-type"] ?? "application/octet-stream",
        sha256: sumOf(request),
        signal: endOf(reply),
      });
      await fileNotices.send(noticeOf({ ...file, bytes }), { tx });
      return reply.code(201).send({ ...file, bytes });
    },
  );
}

async function found(tx: Tx, id: string): Promise<FileRow> {
  const row = await findFile(tx, id);
  if (!row) throw httpErrors.error("TUNTAS_HTTP_NOT_FOUND", `there is no file ${id}`);
  return row;
}

/** The API, ready to listen. */
export async function makeServer(running: RunningApp): Promise<FastifyInstance> {
  const server = Fastify({ return503OnClosing: false });
  await server.register(tuntasHttp, { platform: running.platform, running });
  if (places.inbox !== undefined) takeUploads(server, places.inbox);
  server.get("/files", ({ tx }) => listFiles(tx));
  server.get<{ Params: { id: string } }>("/files/:id", ({ params, tx }) => found(tx, params.id));
  return server;
}

// As much of S3 as `s3Files` asks for, over HTTP, with S3's conditions: an upload in parts is seen by nobody before it is completed, and
// `If-None-Match: *` is refused where the name is taken. Sums of parts and bodies are checked. The same tests pass against another
// S3 whose address is in TEST_S3_URL.
import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

interface StoredObject {
  readonly body: Buffer;
  readonly contentType: string;
  readonly sha256: string | undefined;
  readonly etag: string;
}

interface Upload {
  readonly id: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly parts: Map<number, Buffer>;
}

export interface FakeS3 extends AsyncDisposable {
  readonly url: string;
  readonly objects: Map<string, StoredObject>;
  readonly uploads: Map<string, Upload>;
}

class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string) {
    super(code);
    [this.status, this.code] = [status, code];
  }
}

const md5 = (body: Buffer): string => createHash("md5").update(body).digest("hex");

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const body = Buffer.concat(parts);
  const sum = request.headers["x-amz-checksum-sha256"];
  if (sum !== undefined && sum !== createHash("sha256").update(body).digest("base64"))
    throw new Refusal(400, "BadDigest");
  return body;
}

const stored = (body: Buffer, headers: IncomingMessage["headers"]): StoredObject => ({
  body,
  contentType: String(headers["content-type"]),
  sha256: headers["x-amz-meta-sha256"] as string | undefined,
  etag: md5(body),
});

export async function openS3(): Promise<FakeS3> {
  const objects = new Map<string, StoredObject>();
  const uploads = new Map<string, Upload>();

  function keep(path: string, object: StoredObject, { headers }: IncomingMessage): void {
    if (headers["if-none-match"] === "*" && objects.has(path)) throw new Refusal(412, "PreconditionFailed");
    objects.set(path, object);
  }

  const uploadOf = (id: string): Upload => {
    const upload = uploads.get(id);
    if (!upload) throw new Refusal(404, "NoSuchUpload");
    return upload;
  };

  function show(path: string, request: IncomingMessage, response: ServerResponse): void {
    const object = objects.get(path);
    if (!object) throw new Refusal(404, "NoSuchKey");
    const { body, contentType, sha256, etag } = object;
    const wanted = request.headers["if-match"];
    if (wanted !== undefined && wanted !== `"${etag}"`) throw new Refusal(412, "PreconditionFailed");
    response.writeHead(200, {
      "content-type": contentType,
      "content-length": body.length,
      etag: `"${etag}"`,
      "x-amz-checksum-sha256": createHash("sha256").update(body).digest("base64"),
      ...(sha256 !== undefined && { "x-amz-meta-sha256": sha256 }),
    });
    response.end(request.method === "HEAD" ? undefined : body);
  }

  async function put(path: string, query: URLSearchParams, request: IncomingMessage): Promise<void> {
    const body = await bodyOf(request);
    const id = query.get("uploadId");
    if (id === null) keep(path, stored(body, request.headers), request);
    else uploadOf(id).parts.set(Number(query.get("partNumber")), body);
  }

  function begin(path: string, headers: IncomingMessage["headers"]): string {
    const id = randomUUID();
    uploads.set(id, { id, path, headers, parts: new Map() });
    return `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`;
  }

  async function complete(id: string, request: IncomingMessage): Promise<string> {
    const { path, headers, parts } = uploadOf(id);
    await bodyOf(request);
    const body = Buffer.concat([...parts].toSorted(([a], [b]) => a - b).map(([, part]) => part));
    keep(path, stored(body, headers), request);
    uploads.delete(id);
    return "<CompleteMultipartUploadResult><ETag>&quot;x&quot;</ETag></CompleteMultipartUploadResult>";
  }

  const list = (bucket: string, prefix: string): string => {
    const found = [...uploads.values()].filter(({ path }) => path.startsWith(`${bucket}/${prefix}`));
    const texts = found.map(
      ({ id, path }) =>
        `<Upload><Key>${path.slice(bucket.length + 1)}</Key><UploadId>${id}</UploadId></Upload>`,
    );
    return `<ListMultipartUploadsResult><IsTruncated>false</IsTruncated>${texts.join("")}</ListMultipartUploadsResult>`;
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams: query } = new URL(request.url!, "http://s3");
    const path = decodeURIComponent(pathname).replace(/^\/|\/$/g, "");
    const id = query.get("uploadId");
    const { method } = request;
    if (method === "PUT") {
      await put(path, query, request);
      response.writeHead(200, { etag: '"x"' }).end();
    } else if (method === "POST") {
      response.end(query.has("uploads") ? begin(path, request.headers) : await complete(id!, request));
    } else if (method === "DELETE") {
      uploads.delete(uploadOf(id!).id);
      response.writeHead(204).end();
    } else if (query.has("uploads")) response.end(list(path, query.get("prefix") ?? ""));
    else show(path, request, response);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((cause: unknown) => {
      const { status, code } = cause instanceof Refusal ? cause : new Refusal(500, String(cause));
      response.writeHead(status).end(request.method === "HEAD" ? "" : `<Error><Code>${code}</Code></Error>`);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    uploads,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

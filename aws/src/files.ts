// Files in Amazon S3, behind the port of `tuntas/files`: staged as an upload in parts, which nobody sees before it is completed, and
// completed only if nothing stands under the name.
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  PutObjectCommand,
  UploadPartCommand,
  type CompletedPart,
  type MultipartUpload,
  type S3Client,
} from "@aws-sdk/client-s3";
import { refuseUnknown, type NamesOf } from "tuntas";
import {
  filesErrors,
  nameText,
  same,
  summed,
  told,
  type FileFacts,
  type FileName,
  type Files,
  type PutOptions,
  type Sum,
} from "tuntas/files";
import { makeObjectsClient, type ClientOptions } from "./client.ts";

/** S3 takes 10,000 parts of at least 5 MiB: files of up to 80 GB, one part in memory at a time. */
const partBytes = 8 * 1024 * 1024;

const optionNames: NamesOf<ClientOptions> = { endpoint: true, region: true };

interface Fault {
  readonly name?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

const statusOf = (cause: unknown): number | undefined => (cause as Fault)?.$metadata?.httpStatusCode;

/** Nothing of that name, or a bucket without versions has another content there by now. */
const isMissing = (cause: unknown): boolean => statusOf(cause) === 404 || statusOf(cause) === 412;

/** Somebody else was first: the name is taken, is being taken, or he has cleaned up our upload after it. */
const isTaken = (cause: unknown): boolean =>
  statusOf(cause) === 412 || statusOf(cause) === 409 || (cause as Fault)?.name === "NoSuchUpload";

function addressOf({ bucket: Bucket, key: Key, version }: FileName) {
  if (version === undefined) return { Bucket, Key };
  return version.startsWith("etag:")
    ? { Bucket, Key, IfMatch: `"${version.slice(5).replaceAll('"', "")}"` }
    : { Bucket, Key, VersionId: version };
}

/** S3's own sum, unless it is one of parts; what the sender said goes before it. */
function sha256Of(said: string | undefined, ofObject: string | undefined): string | null {
  if (said !== undefined) return said.toLowerCase();
  return ofObject === undefined || ofObject.includes("-")
    ? null
    : Buffer.from(ofObject, "base64").toString("hex");
}

/** The content in pieces of one size, the last as long as it is: one of no bytes for an empty file. */
async function* inParts(content: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let held: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of content) {
    held.push(chunk);
    bytes += chunk.length;
    while (bytes > partBytes) {
      const all = Buffer.concat(held);
      yield all.subarray(0, partBytes);
      held = [all.subarray(partBytes)];
      bytes -= partBytes;
    }
  }
  yield Buffer.concat(held);
}

interface Target extends PutOptions {
  readonly client: S3Client;
  readonly file: FileName;
}

const describe = ({ file: { bucket, key }, contentType, sha256 }: Target) => ({
  Bucket: bucket,
  Key: key,
  ContentType: contentType,
  ...(sha256 !== undefined && { Metadata: { sha256 } }),
});

/** A file of one part is one request, which S3 carries out or does not. */
const putWhole = (target: Target, body: Buffer) =>
  target.client.send(
    new PutObjectCommand({
      ...describe(target),
      Body: body,
      ChecksumAlgorithm: "SHA256",
      IfNoneMatch: "*",
    }),
    { abortSignal: target.signal },
  );

async function putParts(target: Target, parts: AsyncIterable<Buffer>): Promise<void> {
  const { client, file, signal: abortSignal } = target;
  const { UploadId } = await client.send(
    new CreateMultipartUploadCommand({ ...describe(target), ChecksumAlgorithm: "SHA256" }),
    { abortSignal },
  );
  const upload = { Bucket: file.bucket, Key: file.key, UploadId };
  try {
    const made: CompletedPart[] = [];
    for await (const Body of parts) {
      const part = { ...upload, PartNumber: made.length + 1, Body, ChecksumAlgorithm: "SHA256" } as const;
      const { ETag, ChecksumSHA256 } = await client.send(new UploadPartCommand(part), { abortSignal });
      made.push({ ETag, ChecksumSHA256, PartNumber: part.PartNumber });
    }
    const MultipartUpload = { Parts: made };
    const ending = new CompleteMultipartUploadCommand({ ...upload, MultipartUpload, IfNoneMatch: "*" });
    await client.send(ending, { abortSignal });
  } catch (cause) {
    // What came of it is on the way already; what this leaves behind `discard` finds.
    await client.send(new AbortMultipartUploadCommand(upload)).catch(() => undefined);
    throw cause;
  }
}

async function* after(first: Buffer, second: Buffer, rest: AsyncIterable<Buffer>) {
  yield first;
  yield second;
  yield* rest;
}

async function write(target: Target, content: AsyncIterable<Uint8Array>): Promise<void> {
  const parts = inParts(content);
  try {
    const first = (await parts.next()).value as Buffer;
    const second = await parts.next();
    await (second.done ? putWhole(target, first) : putParts(target, after(first, second.value, parts)));
  } finally {
    await parts.return(undefined); // closes what is read, where S3 has refused before the content's end
  }
}

/** What attempts at this key have begun and not ended. */
async function* unended(
  client: S3Client,
  { bucket: Bucket, key }: FileName,
): AsyncGenerator<MultipartUpload> {
  let from: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } = {};
  for (;;) {
    const page = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix: key, ...from }));
    yield* (page.Uploads ?? []).filter(({ Key }) => Key === key);
    if (!page.IsTruncated) return;
    from = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
  }
}

/**
 * Files in S3; region, credentials and endpoint come by the SDK's usual ways (AWS_REGION, a role, AWS_ENDPOINT_URL_S3). The role
 * needs GetObject, GetObjectVersion, PutObject, AbortMultipartUpload and ListBucketMultipartUploads; with ListBucket a file that is
 * missing is told from one that may not be read.
 */
export function s3Files(options: ClientOptions = {}): Files {
  refuseUnknown("s3Files", options, optionNames);
  const client = makeObjectsClient(options);

  async function find(file: FileName, abortSignal: AbortSignal): Promise<FileFacts | undefined> {
    try {
      const asked = new HeadObjectCommand({ ...addressOf(file), ChecksumMode: "ENABLED" });
      const found = await client.send(asked, { abortSignal });
      const sha256 = sha256Of(found.Metadata?.sha256, found.ChecksumSHA256);
      return { bytes: found.ContentLength ?? 0, contentType: found.ContentType ?? null, sha256 };
    } catch (cause) {
      if (isMissing(cause)) return undefined;
      throw cause;
    }
  }

  async function* read(file: FileName, abortSignal: AbortSignal): AsyncGenerator<Uint8Array> {
    const { Body } = await client
      .send(new GetObjectCommand(addressOf(file)), { abortSignal })
      .catch((cause: unknown) => {
        if (!isMissing(cause)) throw cause;
        throw filesErrors.error("TUNTAS_FILE_GONE", `Amazon S3 has no ${nameText(file)}`, { cause });
      });
    yield* told(Body as unknown as AsyncIterable<Uint8Array>, file, "read");
  }

  async function discard(file: FileName): Promise<void> {
    for await (const { Key, UploadId } of unended(client, file))
      await client
        .send(new AbortMultipartUploadCommand({ Bucket: file.bucket, Key, UploadId }))
        .catch((cause: unknown) => {
          if (!isMissing(cause)) throw cause;
        });
  }

  async function put(file: FileName, content: AsyncIterable<Uint8Array>, given: PutOptions) {
    if (file.version !== undefined)
      throw filesErrors.error("TUNTAS_FILE_NAME", `${nameText(file)}: S3 gives versions by itself`);
    let sum: Sum | undefined;
    let status: "created" | "duplicate" = "created";
    try {
      await write(
        { ...given, client, file },
        summed(told(content, file, "written"), (of) => (sum = of)),
      );
    } catch (cause) {
      if (!sum || !isTaken(cause) || !(await find(file, given.signal))) throw cause;
      await same(file, sum, read(file, given.signal));
      status = "duplicate";
    }
    await discard(file);
    return { status, ...sum! };
  }

  return { find, read, put, discard };
}

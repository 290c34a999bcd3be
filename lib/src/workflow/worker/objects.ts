// What an ItemReader reads and a ResultWriter writes: objects of an S3 that is reached by AWS_ENDPOINT_URL_S3, path style.
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { Failure, JsonObject, ResultFile } from "../../asl/contract.ts";

export interface Objects {
  /** The object's text, or a listing's XML turned into JSON text; a failure where it cannot be read. */
  read(resource: string, parameters: JsonObject, signal: AbortSignal): Promise<string | Failure>;
  write(bucket: string, files: readonly ResultFile[], signal: AbortSignal): Promise<Failure | undefined>;
}

const unpack = promisify(gunzip);

const path = (bucket: string, key: string): string =>
  `/${[bucket, ...key.split("/")].map(encodeURIComponent).join("/")}`;

const tag = (xml: string, name: string): string | undefined =>
  new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];

const unescape = (text: string): string =>
  text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&apos;", "'")
    .replaceAll("&amp;", "&");

/** A failed answer of S3, as its first SDK says it. */
function refusal(status: number, xml: string, error: string): Failure {
  const code = tag(xml, "Code") ?? "Unknown";
  const message = tag(xml, "Message") ?? `HTTP ${status}`;
  return { error, cause: `${message} (Service: Amazon S3; Status Code: ${status}; Error Code: ${code})` };
}

/** The entries of a ListObjectsV2 answer, as the Map's items show them. */
function entriesOf(xml: string): JsonObject[] {
  return [...xml.matchAll(/<Contents>([\s\S]*?)<\/Contents>/g)].map(([, entry]) => ({
    Etag: unescape(tag(entry!, "ETag") ?? ""),
    Key: unescape(tag(entry!, "Key") ?? ""),
    LastModified: Date.parse(tag(entry!, "LastModified") ?? "") / 1000,
    Size: Number(tag(entry!, "Size") ?? 0),
    StorageClass: tag(entry!, "StorageClass") ?? "STANDARD",
  }));
}

const unpackedBytesMax = 256 * 1024 * 1024;

/** The files of an inventory are packed, and so may others be: GZIP says so in its first two bytes. */
async function textOf(response: Response): Promise<string | Failure> {
  const bytes = Buffer.from(await response.arrayBuffer());
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
  try {
    return (isPacked ? await unpack(bytes, { maxOutputLength: unpackedBytesMax }) : bytes).toString();
  } catch (error) {
    const cause = `The object cannot be unpacked: ${(error as Error).message}`;
    return { error: "States.ItemReaderFailed", cause };
  }
}

const unset: Failure = {
  error: "States.ItemReaderFailed",
  cause: "AWS_ENDPOINT_URL_S3 is not set, so there is no S3 to read from.",
};

export function makeObjects(endpoint: string | undefined): Objects {
  const base = endpoint?.replace(/\/+$/, "");

  async function list({ Bucket, Prefix }: JsonObject, signal: AbortSignal): Promise<string | Failure> {
    const entries: JsonObject[] = [];
    let token: string | undefined;
    do {
      const query = new URLSearchParams({
        "list-type": "2",
        ...(typeof Prefix === "string" ? { prefix: Prefix } : {}),
        ...(token === undefined ? {} : { "continuation-token": token }),
      });
      const response = await fetch(`${base}/${encodeURIComponent(String(Bucket))}?${query}`, { signal });
      const xml = await response.text();
      if (!response.ok) return refusal(response.status, xml, "States.ItemReaderFailed");
      entries.push(...entriesOf(xml));
      token = tag(xml, "NextContinuationToken");
    } while (token !== undefined);
    return JSON.stringify(entries);
  }

  return {
    async read(resource, parameters, signal) {
      if (base === undefined) return unset;
      if (resource.endsWith(":listObjectsV2")) return list(parameters, signal);
      const { Bucket, Key } = parameters;
      const response = await fetch(base + path(String(Bucket), String(Key)), { signal });
      if (response.ok) return textOf(response);
      return refusal(response.status, await response.text(), "States.ItemReaderFailed");
    },
    async write(bucket, files, signal) {
      if (base === undefined)
        return { error: "States.ResultWriterFailed", cause: "AWS_ENDPOINT_URL_S3 is not set." };
      for (const { key, body } of files) {
        const response = await fetch(base + path(bucket, key), {
          method: "PUT",
          body,
          headers: { "content-type": "application/json" },
          signal,
        });
        if (!response.ok) return refusal(response.status, await response.text(), "States.ResultWriterFailed");
      }
      return undefined;
    },
  };
}

// AWS Signature Version 4, checked: what was signed is put together again from the request as it came, signed with the
// key's secret, and compared in constant time. In the Authorization header or, presigned, in the query. Source: IAM User
// Guide, "Create a signed AWS API request". Pure; the time and the secret come in.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

export interface SignedRequest {
  readonly method: string;
  /** As it came: path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** What a request says of its own signature. */
export interface Claim {
  readonly keyId: string;
  /** DATE/REGION/SERVICE/aws4_request */
  readonly scope: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
  /** YYYYMMDDTHHMMSSZ */
  readonly date: string;
  /** How long it holds after that, for a presigned one. */
  readonly lifeSeconds: number | undefined;
}

const algorithm = "AWS4-HMAC-SHA256";
const dateForm = /^\d{8}T\d{6}Z$/;
const signatureForm = /^[0-9a-f]{64}$/;
const credentialForm = /^([^/\s]+)\/(\d{8}\/[a-z0-9-]+\/[a-z0-9-]+\/aws4_request)$/;

const instantOf = (date: string): number =>
  Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));

const isDate = (date: string | undefined): date is string =>
  date !== undefined && dateForm.test(date) && Number.isFinite(instantOf(date));

type Pair = readonly [name: string, value: string];

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll("+", "%20"));
  } catch {
    return text;
  }
};

const queryOf = (url: string): Pair[] => {
  const start = url.indexOf("?");
  if (start < 0) return [];
  return url
    .slice(start + 1)
    .split("&")
    .filter((part) => part !== "")
    .map((part) => {
      const at = part.indexOf("=");
      return at < 0 ? [decode(part), ""] : [decode(part.slice(0, at)), decode(part.slice(at + 1))];
    });
};

function claimOf(
  fields: ReadonlyMap<string, string>,
  date: string | undefined,
  life?: string,
): Claim | undefined {
  const [, keyId, scope] = credentialForm.exec(fields.get("credential") ?? "") ?? [];
  const signedHeaders = (fields.get("signedheaders") ?? "").split(";").filter((name) => name !== "");
  const signature = fields.get("signature") ?? "";
  if (!keyId || !scope || !isDate(date) || !signatureForm.test(signature)) return undefined;
  if (!scope.startsWith(date.slice(0, 8)) || !signedHeaders.includes("host")) return undefined;
  if (life !== undefined && !/^\d{1,6}$/.test(life)) return undefined;
  return {
    keyId,
    scope,
    signedHeaders,
    signature,
    date,
    lifeSeconds: life === undefined ? undefined : Number(life),
  };
}

/** The claim; "none" where the request is not signed at all, "incomplete" where it cannot be read. */
export function readClaim({
  headers,
  url,
}: Pick<SignedRequest, "headers" | "url">): Claim | "none" | "incomplete" {
  const { authorization } = headers;
  if (authorization?.startsWith(algorithm)) {
    const fields = authorization
      .slice(algorithm.length)
      .split(",")
      .map((field): Pair => {
        const at = field.indexOf("=");
        return [field.slice(0, at).trim().toLowerCase(), field.slice(at + 1).trim()];
      });
    return claimOf(new Map(fields), headers["x-amz-date"] as string | undefined) ?? "incomplete";
  }
  if (authorization !== undefined) return "incomplete";
  const query = new Map(
    queryOf(url).map(([name, value]) => [name.toLowerCase().replace(/^x-amz-/, ""), value]),
  );
  if (!query.has("signature")) return "none";
  return claimOf(query, query.get("date"), query.get("expires") ?? "300") ?? "incomplete";
}

const escape = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** The path as services other than S3 have it signed: each segment encoded once more. */
const canonicalPath = (url: string): string => url.split("?")[0]!.split("/").map(escape).join("/") || "/";

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const canonicalQuery = (url: string): string =>
  queryOf(url)
    .filter(([name]) => name !== "X-Amz-Signature")
    .map(([name, value]): Pair => [escape(name), escape(value)])
    .toSorted(([a, x], [b, y]) => byText(a, b) || byText(x, y))
    .map(([name, value]) => `${name}=${value}`)
    .join("&");

/** The header as it is signed; what every object has is no header. */
function headerText(headers: IncomingHttpHeaders, name: string): string {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
  return (Array.isArray(value) ? value.join(",") : (value ?? "")).trim().replaceAll(/ +/g, " ");
}

const sha256 = (data: string | Buffer): string => createHash("sha256").update(data).digest("hex");
const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();

function canonicalRequest({ method, url, headers, body }: SignedRequest, { signedHeaders }: Claim): string {
  const lines = signedHeaders.map((name) => `${name}:${headerText(headers, name)}\n`).join("");
  return [method, canonicalPath(url), canonicalQuery(url), lines, signedHeaders.join(";"), sha256(body)].join(
    "\n",
  );
}

/** The key that signs for a day, a region and a service. */
export const signingKey = (secret: string, scope: string): Buffer =>
  scope.split("/").reduce<Buffer | string>((key, part) => hmac(key, part), `AWS4${secret}`) as Buffer;

/** Whether the request was signed with this key, and nothing of what was signed has changed since; the body always is. */
export function isSignedWith(key: Buffer, request: SignedRequest, claim: Claim): boolean {
  const declared = request.headers["x-amz-content-sha256"];
  if (typeof declared === "string" && declared !== sha256(request.body)) return false;
  const text = [algorithm, claim.date, claim.scope, sha256(canonicalRequest(request, claim))].join("\n");
  return timingSafeEqual(hmac(key, text), Buffer.from(claim.signature, "hex"));
}

const skewMs = 15 * 60_000;

/** Why the signature's time is not now, in AWS's words; undefined where it is. */
export function untimely({ date, lifeSeconds }: Claim, nowMs: number): string | undefined {
  const atMs = instantOf(date);
  const lastMs = lifeSeconds === undefined ? atMs + skewMs : atMs + lifeSeconds * 1000;
  const text = (ms: number) => new Date(ms).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  if (!(nowMs <= lastMs))
    return `Signature expired: ${date} is now earlier than ${text(nowMs - (lastMs - atMs))}`;
  if (nowMs < atMs - skewMs)
    return `Signature not yet current: ${date} is still later than ${text(nowMs + skewMs)}`;
  return undefined;
}

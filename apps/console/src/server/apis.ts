// The application's own API, asked in the place of the page: a browser would not let one origin call another. Only
// addresses that the console was started with are asked, and no path leads out of them.
import type { ApiAnswer, ApiOperation, ApiView, JsonSchema } from "../api/index.ts";
import { consoleErrors } from "../contract.ts";

const describeMs = 2000;
const answerMs = 20_000;
const answerCharsMax = 200_000;

interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

const refused = (detail: string) => consoleErrors.error("TUNTAS_CONSOLE_REQUEST", detail);

/** The address of a path below the base. Errors: TUNTAS_CONSOLE_REQUEST. */
function addressIn(base: string, path: string): URL {
  const root = new URL(base);
  const rooted = `${root.pathname.replace(/\/$/, "")}/`;
  const found = URL.canParse(`.${path}`, `${root.origin}${rooted}`)
    ? new URL(`.${path}`, `${root.origin}${rooted}`)
    : undefined;
  if (path.startsWith("/") && found?.origin === root.origin && found.pathname.startsWith(rooted))
    return found;
  throw refused(
    `path: expected one below the API, such as /orders, got ${JSON.stringify(path.slice(0, 100))}`,
  );
}

/** At most so much of an answer, and whether there was more. */
async function readSome(response: Response): Promise<{ body: string; cut: boolean }> {
  const decoder = new TextDecoder();
  let body = "";
  for await (const chunk of response.body ?? []) {
    body += decoder.decode(chunk, { stream: true });
    if (body.length > answerCharsMax) return { body: body.slice(0, answerCharsMax), cut: true };
  }
  return { body: body + decoder.decode(), cut: false };
}

const causeOf = (cause: unknown): string => {
  const { message, cause: inner, name } = cause as Error;
  if (name === "TimeoutError") return "it did not answer in time; whether the call took place is not known";
  return inner instanceof Error && inner.message ? inner.message : message;
};

/** Errors: TUNTAS_CONSOLE_REQUEST, TUNTAS_CONSOLE_API. */
export async function callApi(base: string, request: Request): Promise<ApiAnswer> {
  const address = addressIn(base, request.path);
  const { method, body } = request;
  const headers = { ...(body !== undefined && { "content-type": "application/json" }), ...request.headers };
  const begun = performance.now();
  try {
    const signal = AbortSignal.timeout(answerMs);
    const sent = body === undefined || method === "GET" ? {} : { body };
    const response = await fetch(address, { method, headers, ...sent, redirect: "manual", signal });
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      ...(await readSome(response)),
      tookMs: Math.round(performance.now() - begun),
    };
  } catch (cause) {
    throw consoleErrors.error("TUNTAS_CONSOLE_API", `${method} ${address.href}: ${causeOf(cause)}`, {
      cause,
    });
  }
}

interface Described {
  readonly summary?: string;
  readonly parameters?: readonly {
    readonly name?: string;
    readonly in?: string;
    readonly required?: boolean;
  }[];
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema?: JsonSchema }>> };
}

interface OpenApi {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Described>>>>;
}

const methods = new Set(["get", "post", "put", "patch", "delete"]);

const operationOf = (path: string, method: string, described: Described): ApiOperation => ({
  method: method.toUpperCase(),
  path,
  summary: described.summary ?? "",
  headers: (described.parameters ?? [])
    .filter((parameter) => parameter.in === "header" && parameter.name !== undefined)
    .map(({ name = "", required = false }) => ({ name, required })),
  body: described.requestBody?.content?.["application/json"]?.schema ?? null,
});

const operationsOf = ({ paths = {} }: OpenApi): ApiOperation[] =>
  Object.entries(paths).flatMap(([path, ways]) =>
    Object.entries(ways)
      .filter(([method]) => methods.has(method))
      .map(([method, described]) => operationOf(path, method, described)),
  );

/** What an API says of itself at /openapi.json. */
export async function describeApi(name: string, url: string): Promise<ApiView> {
  try {
    const signal = AbortSignal.timeout(describeMs);
    const response = await fetch(addressIn(url, "/openapi.json"), { signal, redirect: "error" });
    if (!response.ok) throw new Error(`/openapi.json answers ${response.status}`);
    return { name, url, operations: operationsOf((await response.json()) as OpenApi), failure: null };
  } catch (cause) {
    return { name, url, operations: [], failure: causeOf(cause) };
  }
}

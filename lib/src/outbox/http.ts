// An HTTP endpoint as a target: one POST an event, with the event's id as its idempotency key. What the endpoint answers
// is a judgement about the event (4xx) or about itself (5xx, 408, 429, no answer); Retry-After says for how long.
import { refuseUnknown, type NamesOf } from "../core/options.ts";
import { toMs } from "../core/duration.ts";
import type { Announcement, Receipt, Target } from "../engine/target.ts";
import type { HttpEndpoint, Told } from "./contract.ts";
import { outboxErrors } from "./contract.ts";
import { retryAfterMs } from "./retry-after.ts";

const told = (value: Told): string | undefined => (typeof value === "function" ? value() : value);

const unavailable = (message: string, cause?: unknown) =>
  outboxErrors.error("TUNTAS_OUTBOX_UNAVAILABLE", message, { cause });

// What fetch says of an address or a header that it does not take repeats it, and a failure is kept in a row and logged: so each is
// looked at before, and named without what may be secret.

/** A header that is not told now is left out. Errors: TUNTAS_OUTBOX_UNAVAILABLE. */
function headersOf({ headers = {} }: HttpEndpoint): Record<string, string> {
  const all: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const text = told(value);
    if (text === undefined) continue;
    if (!isHeader(name, text))
      throw unavailable(`headers.${name} is told as what no header can be, of ${text.length} characters`);
    all[name] = text;
  }
  return all;
}

function isHeader(name: string, value: string): boolean {
  try {
    return new Headers({ [name]: value }).has(name);
  } catch {
    return false;
  }
}

/** Where the endpoint is. Errors: TUNTAS_OUTBOX_UNAVAILABLE. */
function addressOf({ url: given }: HttpEndpoint, name: string): URL {
  const text = told(given);
  if (!text) throw unavailable(`nothing says yet where ${name} is`);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && url.username === "" && url.password === "") return url;
  throw unavailable(
    `the address of ${name} is ${url ? "told with a password in it, which belongs into a header" : "no URL"}`,
  );
}

/** The code under which an answer that is neither 2xx nor a duplicate is taken. */
function codeOf({ permanentStatus = [] }: HttpEndpoint, status: number) {
  if (permanentStatus.includes(status)) return "TUNTAS_OUTBOX_PERMANENT";
  return ownFault(status) ? "TUNTAS_OUTBOX_UNAVAILABLE" : "TUNTAS_OUTBOX_REFUSED";
}

const ownFault = (status: number): boolean => status >= 500 || status === 408 || status === 429;

function requestOf(
  endpoint: HttpEndpoint,
  { eventId, key, type, payload }: Announcement,
  signal: AbortSignal,
): RequestInit {
  return {
    method: "POST",
    body: payload,
    redirect: "error",
    signal: AbortSignal.any([
      signal,
      AbortSignal.timeout(toMs(endpoint.timeout ?? "10s", "outbox endpoint: timeout")),
    ]),
    headers: {
      "content-type": "application/json",
      "idempotency-key": eventId,
      ...(key !== null && { "tuntas-key": encodeURIComponent(key) }),
      ...(type !== null && { "tuntas-type": encodeURIComponent(type) }),
      ...headersOf(endpoint),
    },
  };
}

/** What an answer means that is neither 2xx nor a duplicate, with the time for which it asks to be left alone. */
function refusalOf(endpoint: HttpEndpoint, { status, headers }: Response, place: string) {
  const waitMs = retryAfterMs(headers.get("retry-after"), headers.get("date"), Date.now());
  const after = waitMs === undefined ? "" : `, to be asked again after ${Math.ceil(waitMs / 1000)} s`;
  const details = waitMs === undefined ? {} : { retryAfterMs: waitMs };
  return outboxErrors.error(codeOf(endpoint, status), `expected 2xx from ${place}, got ${status}${after}`, {
    details,
  });
}

const endpointNames: NamesOf<HttpEndpoint> = {
  url: true,
  headers: true,
  timeout: true,
  duplicateStatus: true,
  permanentStatus: true,
};

/** A target that posts to the endpoint. Bind it with `{ kind: "http", name }`. */
export function httpTarget(endpoint: HttpEndpoint): Target {
  refuseUnknown("httpTarget", endpoint, endpointNames);
  return {
    async deliver(announcement, signal): Promise<Receipt> {
      const url = addressOf(endpoint, announcement.target.name);
      const place = `${url.origin}${url.pathname}`; // without its query, in which a token may be
      const request = requestOf(endpoint, announcement, signal);
      const response = await fetch(url, request).catch((cause: unknown) => {
        throw unavailable(`no answer from ${place}: ${(cause as Error).message}`, cause);
      });
      // It has answered, whatever becomes of the rest.
      await response.body?.cancel().catch(() => undefined);
      if (endpoint.duplicateStatus?.includes(response.status)) return { status: "duplicate" };
      if (response.ok) return { status: "created" };
      throw refusalOf(endpoint, response, place);
    },
  };
}

// An HTTP endpoint as a target: one POST an event, with the event's id as its idempotency key. What the endpoint answers
// is a judgement about the event (4xx) or about itself (5xx, 408, 429, no answer).
import { refuseUnknown, type NamesOf } from "../core/options.ts";
import { toMs } from "../core/duration.ts";
import type { Announcement, Receipt, Target } from "../engine/target.ts";
import type { HttpEndpoint, Told } from "./contract.ts";
import { outboxErrors } from "./contract.ts";

const told = (value: Told): string | undefined => (typeof value === "function" ? value() : value);

/** A header that is not told now is left out. */
function headersOf({ headers = {} }: HttpEndpoint): Record<string, string> {
  const all = Object.entries(headers).map(([name, value]) => [name, told(value)] as const);
  return Object.fromEntries(
    all.filter((entry): entry is readonly [string, string] => entry[1] !== undefined),
  );
}

const unavailable = (message: string, cause?: unknown) =>
  outboxErrors.error("TUNTAS_OUTBOX_UNAVAILABLE", message, { cause });

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
      const url = told(endpoint.url);
      if (!url) throw unavailable(`nothing says yet where ${announcement.target.name} is`);
      const response = await fetch(url, requestOf(endpoint, announcement, signal)).catch((cause: unknown) => {
        throw unavailable(`no answer from ${url}: ${(cause as Error).message}`, cause);
      });
      await response.body?.cancel();
      if (endpoint.duplicateStatus?.includes(response.status)) return { status: "duplicate" };
      if (response.ok) return { status: "created" };
      throw outboxErrors.error(
        codeOf(endpoint, response.status),
        `expected 2xx from ${url}, got ${response.status}`,
      );
    },
  };
}

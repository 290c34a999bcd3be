// An HTTP endpoint as a target: one POST an event, with the event's id as its idempotency key. What the endpoint answers
// is a judgement about the event (4xx) or about itself (5xx, 408, 429, no answer).
import { toMs } from "../core/duration.ts";
import type { Announcement, Receipt, Target } from "../engine/target.ts";
import type { HttpEndpoint } from "./contract.ts";
import { outboxErrors } from "./contract.ts";

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
      ...endpoint.headers,
    },
  };
}

/** A target that posts to the endpoint. Bind it with `{ kind: "http", name }`. */
export function httpTarget(endpoint: HttpEndpoint): Target {
  return {
    async deliver(announcement, signal): Promise<Receipt> {
      const response = await fetch(endpoint.url, requestOf(endpoint, announcement, signal)).catch(
        (cause: unknown) => {
          const message = `no answer from ${endpoint.url}: ${(cause as Error).message}`;
          throw outboxErrors.error("TUNTAS_OUTBOX_UNAVAILABLE", message, { cause });
        },
      );
      await response.body?.cancel();
      if (endpoint.duplicateStatus?.includes(response.status)) return { status: "duplicate" };
      if (response.ok) return { status: "created" };
      const code = ownFault(response.status) ? "TUNTAS_OUTBOX_UNAVAILABLE" : "TUNTAS_OUTBOX_REFUSED";
      throw outboxErrors.error(code, `expected 2xx from ${endpoint.url}, got ${response.status}`);
    },
  };
}

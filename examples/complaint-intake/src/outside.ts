// What lies outside of this application: a service that scores risks, and the mailbox of the intake officers. Both may be
// slow, or down for a day.
import type { NewComplaint } from "./store.ts";

/** The scoring service has no answer now; it may have one later. */
export class ScoringDown extends Error {}

async function post(url: string, body: unknown, init: RequestInit): Promise<Response> {
  const headers = { "content-type": "application/json", ...(init.headers as Record<string, string>) };
  return fetch(url, { ...init, method: "POST", headers, body: JSON.stringify(body) });
}

/** 0 to 100. Errors: ScoringDown. */
export async function scoreOf(complaint: NewComplaint, signal: AbortSignal): Promise<number> {
  const response = await post(`${process.env.SCORING_URL}/scores`, complaint, { signal }).catch((cause) => {
    throw new ScoringDown("the scoring service cannot be reached", { cause });
  });
  if (!response.ok) throw new ScoringDown(`the scoring service answers ${response.status}`);
  return ((await response.json()) as { risk: number }).risk;
}

/** The mailbox takes a notice once for a key. */
export async function tellOfficers(notice: object, key: string, signal: AbortSignal): Promise<void> {
  const headers = { "idempotency-key": key };
  const response = await post(`${process.env.OFFICERS_URL}/notices`, notice, { signal, headers });
  if (!response.ok) throw new Error(`the officers' mailbox answers ${response.status}`);
}

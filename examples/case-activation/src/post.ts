// The post as its client sees it: NOTICE_URL names it. It takes a letter once for a key, and says what became of one.
import { refusal } from "tuntas/ledger";

const url = (path: string): string => `${(process.env.NOTICE_URL ?? "").replace(/\/+$/, "")}${path}`;

export interface Letter {
  readonly reference: string;
}

/** Posts a letter. A 4xx answer is a refusal; anything else that is no answer is unknown. */
export async function postLetter(key: string, signal: AbortSignal): Promise<Letter> {
  const response = await fetch(url("/letters"), {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": key },
    body: JSON.stringify({ noticeId: key }),
    signal,
  });
  if (response.status >= 400 && response.status < 500) throw refusal("POST_REFUSED", await response.text());
  if (!response.ok) throw new Error(`the post answers ${response.status}`);
  return (await response.json()) as Letter;
}

/** What became of a letter whose answer was lost. */
export async function askPost(key: string) {
  const response = await fetch(url(`/letters/${encodeURIComponent(key)}`), {
    signal: AbortSignal.timeout(5000),
  });
  if (response.status === 404) return { state: "absent" } as const;
  if (!response.ok) return { state: "unknown" } as const;
  const letter = (await response.json()) as Letter;
  return { state: "succeeded", response: letter, reference: letter.reference } as const;
}

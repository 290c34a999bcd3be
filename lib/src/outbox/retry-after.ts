// When an endpoint that asks to be left alone is asked again.

/** Nobody is to be silenced for ever by one wrong header. */
const retryAfterMaxMs = 3_600_000;

/**
 * How long an answer asks to be left alone, at most an hour: `Retry-After` is seconds or a date (RFC 9110, 10.2.3), which is compared
 * with the answer's own. Undefined where it says nothing that can be read.
 */
export function retryAfterMs(
  said: string | null,
  answeredAt: string | null,
  nowMs: number,
): number | undefined {
  const text = said?.trim() ?? "";
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, retryAfterMaxMs);
  // A date of HTTP begins with the day of the week; what else Date.parse takes is none.
  const at = /^[A-Z][a-z]{2,8},? /.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(at)) return undefined;
  const answered = Date.parse(answeredAt ?? "");
  return Math.min(Math.max(0, at - (Number.isNaN(answered) ? nowMs : answered)), retryAfterMaxMs);
}

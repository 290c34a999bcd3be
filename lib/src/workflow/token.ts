// How task tokens and the names that are derived from them are kept.
import { createHash } from "node:crypto";

/** Whoever reads the table of calls cannot answer a task. */
export const hashToken = (token: string): Buffer => createHash("sha256").update(token).digest();

/** A name in the form of a UUID that is the same for the same text: who does a thing again finds what was done. */
export function nameOf(text: string): string {
  const hex = hashToken(text).toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    "-",
  );
}

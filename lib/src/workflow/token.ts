// Task tokens. What is stored of one is a reference and a hash: the token itself is derived from the reference with a
// secret, so that neither states nor histories nor the table of calls hold anything that answers a task.
import { createHash, createHmac } from "node:crypto";

const uuidForm = (hex: string): string =>
  [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join("-");

/** Whoever reads the table of calls cannot answer a task. */
export const hashToken = (token: string): Buffer => createHash("sha256").update(token).digest();

/** The token that a reference stands for. */
export const deriveToken = (secret: Buffer, reference: string): string =>
  uuidForm(createHmac("sha256", secret).update(reference).digest("hex"));

/** A name in the form of a UUID that is the same for the same text: who does a thing again finds what was done. */
export const nameOf = (text: string): string => uuidForm(hashToken(text).toString("hex"));

// What is derived from secrets. A key's secret comes from its id and the installation's secret: it is shown once, and
// yet a signature made with it can be checked later, because it can be derived again.
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";

export const sha256 = (text: string | Buffer): Buffer => createHash("sha256").update(text).digest();

const hmac = (key: Buffer | string, text: string): Buffer => createHmac("sha256", key).update(text).digest();

/** Whether both are the same text, in a time that tells nothing about where they differ. */
export const isSame = (a: string, b: string): boolean => timingSafeEqual(sha256(a), sha256(b));

/** The secret of a key: 40 characters, as AWS's are. */
export const secretOf = (installation: Buffer, keyId: string): string =>
  hmac(installation, `tuntas key ${keyId}`).toString("base64url").slice(0, 40);

/** What a page sends back with each change; it follows from the session and is nowhere stored. */
export const csrfOf = (token: string): string => hmac(token, "tuntas csrf").toString("base64url");

export const newToken = (): string => randomBytes(32).toString("base64url");

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** An id in the form of AWS's access key ids, 20 characters, which no 12-digit account is. */
export const newKeyId = (): string =>
  "TUNT" + [...randomBytes(16)].map((byte) => alphabet[byte % 32]).join("");

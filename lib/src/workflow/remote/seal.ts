// The tokens of machines elsewhere are not of our making, so they have to be kept until they have answered: sealed, so that
// neither a copy of the table nor a look at it answers a task.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";

export interface Seal {
  seal(token: string): Buffer;
  unseal(sealed: Buffer): string;
}

const cipher = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;

/** `secret` is text that only this installation can derive. */
export function makeSeal(secret: string): Seal {
  const key = createHash("sha256").update(secret).digest();
  return {
    seal(token) {
      const nonce = randomBytes(nonceBytes);
      const sealing = createCipheriv(cipher, key, nonce);
      const sealed = Buffer.concat([sealing.update(token, "utf8"), sealing.final()]);
      return Buffer.concat([nonce, sealing.getAuthTag(), sealed]);
    },
    unseal(sealed) {
      const opening = createDecipheriv(cipher, key, sealed.subarray(0, nonceBytes));
      opening.setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes));
      const text = Buffer.concat([opening.update(sealed.subarray(nonceBytes + tagBytes)), opening.final()]);
      return text.toString("utf8");
    },
  };
}

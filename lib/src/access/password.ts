// Passwords as scrypt hashes. A check takes the same time whether or not there is such a user.
import { randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from "node:crypto";

// 32 MiB and about 60 ms a check (OWASP's password storage recommendation for scrypt).
const cost = { N: 2 ** 15, r: 8, p: 1 };
const hashBytes = 32;

const derive = (password: string, salt: Buffer, options: ScryptOptions): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const allowed = { ...options, maxmem: 256 * options.N! * options.r! };
    scrypt(password.normalize("NFKC"), salt, hashBytes, allowed, (cause, hash) =>
      cause ? reject(cause) : resolve(hash),
    );
  });

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const hash = await derive(password, salt, cost);
  return ["scrypt", cost.N, cost.r, cost.p, salt.toString("base64"), hash.toString("base64")].join("$");
}

let nobody: Promise<string> | undefined;

/** Whether the password is the one of the hash; false for no hash, after as much work. */
export async function isPassword(password: string, stored: string | undefined): Promise<boolean> {
  const parts = (stored ?? (await (nobody ??= hashPassword("nobody's password")))).split("$");
  const [N, r, p] = parts.slice(1, 4).map(Number);
  const [salt, hash] = parts.slice(4).map((part) => Buffer.from(part, "base64"));
  const given = await derive(password, salt!, { N: N!, r: r!, p: p! });
  return timingSafeEqual(given, hash!) && stored !== undefined;
}

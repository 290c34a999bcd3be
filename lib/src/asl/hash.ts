// MD5 and the SHA family over UTF-8 text, for States.Hash and $hash. Written out because this floor is pure; the
// constants are computed from their definition (fractional bits of roots of primes), which keeps the tables away.

export type HashAlgorithm = "MD5" | "SHA-1" | "SHA-256" | "SHA-384" | "SHA-512";

export const isHashAlgorithm = (name: unknown): name is HashAlgorithm =>
  typeof name === "string" && Object.hasOwn(algorithms, name);

export function hashHex(text: string, algorithm: HashAlgorithm): string {
  return algorithms[algorithm](utf8(text));
}

const algorithms: Record<HashAlgorithm, (bytes: Uint8Array) => string> = {
  MD5: md5,
  "SHA-1": sha1,
  "SHA-256": sha256,
  "SHA-384": (bytes) => sha512(bytes, 9).slice(0, 96),
  "SHA-512": (bytes) => sha512(bytes, 1),
};

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const rotl = (x: number, n: number): number => (x << n) | (x >>> (32 - n));
const rotr = (x: number, n: number): number => (x >>> n) | (x << (32 - n));
const hex32 = (word: number): string => (word >>> 0).toString(16).padStart(8, "0");

/** The message, a one bit, zeros, and its length in bits in the last `lengthBytes`. */
function padded(bytes: Uint8Array, block: number, lengthBytes: number, littleEndian: boolean): DataView {
  const size = Math.ceil((bytes.length + 1 + lengthBytes) / block) * block;
  const all = new Uint8Array(size);
  all.set(bytes);
  all[bytes.length] = 0x80;
  const view = new DataView(all.buffer);
  view.setBigUint64(size - 8, BigInt(bytes.length) * 8n, littleEndian);
  return view;
}

function md5(bytes: Uint8Array): string {
  const view = padded(bytes, 64, 8, true);
  const hash = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476];
  for (let offset = 0; offset < view.byteLength; offset += 64) md5Block(view, offset, hash);
  const swap = (word: number): string => hex32(word).match(/../g)!.toReversed().join("");
  return hash.map(swap).join("");
}

const md5Shifts = [
  [7, 12, 17, 22],
  [5, 9, 14, 20],
  [4, 11, 16, 23],
  [6, 10, 15, 21],
] as const;

function md5Block(view: DataView, offset: number, hash: number[]): void {
  let [a, b, c, d] = hash as [number, number, number, number];
  for (let i = 0; i < 64; i++) {
    const round = i >> 4;
    const [mixed, word] = md5Mix(round, i, b, c, d);
    const constant = Math.floor(Math.abs(Math.sin(i + 1)) * 2 ** 32);
    const sum = (a + mixed + constant + view.getUint32(offset + word * 4, true)) | 0;
    [a, d, c] = [d, c, b];
    b = (b + rotl(sum, md5Shifts[round]![i & 3]!)) | 0;
  }
  [a, b, c, d].forEach((word, i) => (hash[i] = (hash[i]! + word) | 0));
}

function md5Mix(round: number, i: number, b: number, c: number, d: number): [number, number] {
  if (round === 0) return [(b & c) | (~b & d), i];
  if (round === 1) return [(d & b) | (~d & c), (5 * i + 1) & 15];
  if (round === 2) return [b ^ c ^ d, (3 * i + 5) & 15];
  return [c ^ (b | ~d), (7 * i) & 15];
}

function sha1(bytes: Uint8Array): string {
  const view = padded(bytes, 64, 8, false);
  const hash = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0];
  for (let offset = 0; offset < view.byteLength; offset += 64) sha1Block(view, offset, hash);
  return hash.map(hex32).join("");
}

function sha1Block(view: DataView, offset: number, hash: number[]): void {
  const words = new Int32Array(80);
  for (let i = 0; i < 16; i++) words[i] = view.getInt32(offset + i * 4);
  for (let i = 16; i < 80; i++)
    words[i] = rotl(words[i - 3]! ^ words[i - 8]! ^ words[i - 14]! ^ words[i - 16]!, 1);
  let [a, b, c, d, e] = hash as [number, number, number, number, number];
  for (let i = 0; i < 80; i++) {
    const [mixed, constant] = sha1Mix(i, b, c, d);
    const next = (rotl(a, 5) + mixed + e + constant + words[i]!) | 0;
    [e, d, c, b, a] = [d, c, rotl(b, 30), a, next];
  }
  [a, b, c, d, e].forEach((word, i) => (hash[i] = (hash[i]! + word) | 0));
}

function sha1Mix(i: number, b: number, c: number, d: number): [number, number] {
  if (i < 20) return [(b & c) | (~b & d), 0x5a827999];
  if (i < 40) return [b ^ c ^ d, 0x6ed9eba1];
  if (i < 60) return [(b & c) | (b & d) | (c & d), 0x8f1bbcdc];
  return [b ^ c ^ d, 0xca62c1d6];
}

const primes: readonly bigint[] = firstPrimes(80);

function firstPrimes(count: number): bigint[] {
  const found: number[] = [];
  for (let n = 2; found.length < count; n++) if (found.every((prime) => n % prime !== 0)) found.push(n);
  return found.map(BigInt);
}

/** The first 64 bits after the point of the square (2) or cube (3) root of a prime. */
function rootBits(prime: bigint, degree: 2 | 3): bigint {
  const target = prime << BigInt(64 * degree);
  let low = 0n;
  let high = 1n << 70n;
  while (high - low > 1n) {
    const middle = (low + high) >> 1n;
    if (middle ** BigInt(degree) <= target) low = middle;
    else high = middle;
  }
  return low & mask64;
}

const mask64 = (1n << 64n) - 1n;
let cubes: readonly bigint[] | undefined;
const cubeBits = (): readonly bigint[] => (cubes ??= primes.map((prime) => rootBits(prime, 3)));

function sha256(bytes: Uint8Array): string {
  const view = padded(bytes, 64, 8, false);
  const hash = primes.slice(0, 8).map((prime) => Number(rootBits(prime, 2) >> 32n));
  const constants = cubeBits().map((bits) => Number(bits >> 32n));
  for (let offset = 0; offset < view.byteLength; offset += 64) sha256Block(view, offset, hash, constants);
  return hash.map(hex32).join("");
}

function sha256Block(view: DataView, offset: number, hash: number[], constants: readonly number[]): void {
  const w = new Int32Array(64);
  for (let i = 0; i < 16; i++) w[i] = view.getInt32(offset + i * 4);
  for (let i = 16; i < 64; i++) {
    const low = rotr(w[i - 15]!, 7) ^ rotr(w[i - 15]!, 18) ^ (w[i - 15]! >>> 3);
    const high = rotr(w[i - 2]!, 17) ^ rotr(w[i - 2]!, 19) ^ (w[i - 2]! >>> 10);
    w[i] = w[i - 16]! + low + w[i - 7]! + high;
  }
  let [a, b, c, d, e, f, g, h] = hash as [number, number, number, number, number, number, number, number];
  for (let i = 0; i < 64; i++) {
    const t1 =
      (h + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ((e & f) ^ (~e & g)) + constants[i]! + w[i]!) | 0;
    const t2 = ((rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => (hash[i] = (hash[i]! + word) | 0));
}

/** SHA-512 starts from the roots of the first eight primes, SHA-384 from those of the ninth to the sixteenth. */
function sha512(bytes: Uint8Array, firstPrime: number): string {
  const view = padded(bytes, 128, 16, false);
  const hash = primes.slice(firstPrime - 1, firstPrime + 7).map((prime) => rootBits(prime, 2));
  for (let offset = 0; offset < view.byteLength; offset += 128) sha512Block(view, offset, hash);
  return hash.map((word) => word.toString(16).padStart(16, "0")).join("");
}

const rotr64 = (x: bigint, n: bigint): bigint => ((x >> n) | (x << (64n - n))) & mask64;

function sha512Block(view: DataView, offset: number, hash: bigint[]): void {
  const w: bigint[] = [];
  for (let i = 0; i < 16; i++) w.push(view.getBigUint64(offset + i * 8));
  for (let i = 16; i < 80; i++) {
    const low = rotr64(w[i - 15]!, 1n) ^ rotr64(w[i - 15]!, 8n) ^ (w[i - 15]! >> 7n);
    const high = rotr64(w[i - 2]!, 19n) ^ rotr64(w[i - 2]!, 61n) ^ (w[i - 2]! >> 6n);
    w.push((w[i - 16]! + low + w[i - 7]! + high) & mask64);
  }
  let [a, b, c, d, e, f, g, h] = hash as [bigint, bigint, bigint, bigint, bigint, bigint, bigint, bigint];
  for (let i = 0; i < 80; i++) {
    const t1 =
      h +
      (rotr64(e, 14n) ^ rotr64(e, 18n) ^ rotr64(e, 41n)) +
      ((e & f) ^ (~e & mask64 & g)) +
      cubeBits()[i]! +
      w[i]!;
    const t2 = (rotr64(a, 28n) ^ rotr64(a, 34n) ^ rotr64(a, 39n)) + ((a & b) ^ (a & c) ^ (b & c));
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) & mask64, c, b, a, (t1 + t2) & mask64];
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => (hash[i] = (hash[i]! + word) & mask64));
}

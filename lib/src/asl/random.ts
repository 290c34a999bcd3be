// Chance that comes in: everything random in a decision is drawn from the seed of its event, in order.

export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  uuid(): string;
}

/** FNV-1a, run over four offsets, spreads a seed of any length over 128 bits. */
function spread(seed: string): Uint32Array {
  const words = new Uint32Array([0x811c9dc5, 0x9e3779b9, 0x85ebca6b, 0xc2b2ae35]);
  for (let w = 0; w < 4; w++) {
    let hash = words[w]!;
    for (let i = 0; i < seed.length; i++) hash = Math.imul(hash ^ seed.charCodeAt(i), 0x01000193 + w * 2);
    words[w] = hash;
  }
  return words;
}

/** The sfc32 generator: small, fast and good enough for ids and jitter. Secrets are not made here. */
export function randomFrom(seed: string): Random {
  let words: Uint32Array | undefined;
  const word = (): number => {
    words ??= warm(spread(seed));
    return step(words);
  };
  return {
    next: () => ((word() >>> 5) * 67108864 + (word() >>> 6)) / 9007199254740992,
    uuid: () => formatUuid([word(), word(), word(), word()]),
  };
}

function warm(words: Uint32Array): Uint32Array {
  for (let i = 0; i < 12; i++) step(words);
  return words;
}

function step(w: Uint32Array): number {
  const sum = (w[0]! + w[1]! + w[3]!) >>> 0;
  w[3] = w[3]! + 1;
  w[0] = w[1]! ^ (w[1]! >>> 9);
  w[1] = w[2]! + (w[2]! << 3);
  w[2] = ((w[2]! << 21) | (w[2]! >>> 11)) + sum;
  return sum;
}

function formatUuid(words: readonly number[]): string {
  const hex = words.map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
  const variant = ((parseInt(hex[16]!, 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
}

const mask48 = (1n << 48n) - 1n;

/** The first double of java.util.Random(seed): what a seeded States.MathRandom or $random gives. */
export function javaRandom(seed: number): number {
  let bits = (BigInt(Math.trunc(seed)) ^ 0x5deece66dn) & mask48;
  const draw = (count: bigint): bigint => {
    bits = (bits * 0x5deece66dn + 0xbn) & mask48;
    return bits >> (48n - count);
  };
  return Number((draw(26n) << 27n) + draw(27n)) / 2 ** 53;
}

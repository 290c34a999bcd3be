// A small seeded generator: the same seed draws the same faults in the same order, so that a failing run can be repeated.
export interface Random {
  /** From 0 (included) to 1 (not included). */
  fraction(): number;
  /** From 0 (included) to `below` (not included). */
  integer(below: number): number;
  between(least: number, most: number): number;
  pick<T>(from: readonly T[]): T;
  chance(probability: number): boolean;
}

export function makeRandom(seed: number): Random {
  let state = seed >>> 0;
  // mulberry32: neighbouring seeds draw nothing alike.
  const draw = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const integer = (below: number) => Math.floor(draw() * below);
  return {
    fraction: draw,
    integer,
    between: (least, most) => least + integer(most - least + 1),
    pick: (from) => from[integer(from.length)]!,
    chance: (probability) => draw() < probability,
  };
}

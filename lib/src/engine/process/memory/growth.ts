// Whether memory grows steadily. What a process uses goes up and down with every collection; what it keeps shows at the
// lows. A leak is told from a process that warms up by its going on: each part of the time is above the one before.

export interface Low {
  readonly atMs: number;
  /** The least that was in use during one window. */
  readonly bytes: number;
}

export interface Growth {
  readonly bytes: number;
  readonly bytesPerHour: number;
  readonly limitBytes: number;
  /** When the limit is reached if it goes on like this. */
  readonly hoursLeft: number;
}

/** So many windows are looked at together. */
export const windowsMax = 12;
/** Less of the limit than this, over all the windows, is noise. */
const leastShare = 0.02;
/** Further away than this it is nobody's concern today. */
const hoursMax = 72;

const parts = 4;

/** The lowest of each quarter of the time. */
const floors = (lows: readonly Low[]): number[] =>
  Array.from({ length: parts }, (_, part) => {
    const from = Math.floor((part * lows.length) / parts);
    const to = Math.floor(((part + 1) * lows.length) / parts);
    return Math.min(...lows.slice(from, to).map(({ bytes }) => bytes));
  });

/** How fast it grows, where it grew in every quarter of the last windows and comes near the limit soon enough. */
export function growthOf(lows: readonly Low[], limitBytes: number): Growth | undefined {
  if (lows.length < windowsMax) return undefined;
  const steps = floors(lows);
  const first = steps[0]!;
  const last = steps[parts - 1]!;
  const rises = steps.every((floor, index) => index === 0 || floor > steps[index - 1]!);
  if (!rises || last - first < leastShare * limitBytes) return undefined;
  // From the middle of the first quarter to the middle of the last one.
  const hours = (((lows.at(-1)!.atMs - lows[0]!.atMs) / 3_600_000) * (parts - 1)) / parts;
  const bytesPerHour = (last - first) / hours;
  const hoursLeft = Math.max(0, limitBytes - last) / bytesPerHour;
  return hoursLeft > hoursMax ? undefined : { bytes: last, bytesPerHour, limitBytes, hoursLeft };
}

// What became of the work that a fault interrupted, out of who began what, who ended when, and whose effects are there.

export interface Begun {
  readonly id: string;
  readonly pid: number;
  readonly atMs: number;
}

/** A worker that was killed, frozen or cut off. */
export interface End {
  readonly pid: number;
  readonly kind: string;
  readonly atMs: number;
}

export interface Interrupted {
  readonly kind: string;
  /** Begun when the fault struck, and without an effect of the same process. */
  readonly messages: number;
  /** Begun in the last second before it, but its commit had gone out, or the same process did it after all. */
  readonly committed: number;
  /** How long it took until another process began it. */
  readonly takeOversMs: readonly number[];
  /** Neither an effect nor begun again: lost, where they had been accepted. */
  readonly neverBegunAgain: number;
}

/** A fault, of whatever kind. */
export interface Strike {
  readonly name: string;
  readonly atMs: number;
}

/** A take-over, and what struck from a while before it until it was over. */
export interface TakeOver {
  readonly kind: string;
  readonly waitedMs: number;
  readonly beside: readonly string[];
}

/** What was begun earlier and has an effect had ended long before. */
const lastMs = 1000;

export function groupBy<K, V>(items: readonly V[], keyOf: (item: V) => K): Map<K, V[]> {
  const groups = new Map<K, V[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}

/** What became of a message that a process had begun when a fault struck it. */
interface Fate {
  readonly kind: string;
  /** When the fault struck. */
  readonly atMs: number;
  readonly fate: "committed" | "taken over" | "elsewhere" | "gone";
  /** Until another process began it. */
  readonly waitedMs?: number;
}

/** The fates of all that faults interrupted; `effects` has whose effect each message has. */
export function fatesOf(
  begun: readonly Begun[],
  ends: readonly End[],
  effects: ReadonlyMap<string, number>,
): Fate[] {
  const byId = groupBy(begun, ({ id }) => id);
  const byPid = groupBy(begun, ({ pid }) => pid);
  return ends.flatMap(({ pid, kind, atMs }) =>
    (byPid.get(pid) ?? [])
      .filter((each) => each.atMs <= atMs && (effects.get(each.id) !== pid || each.atMs > atMs - lastMs))
      .map(({ id }) => ({ kind, atMs, ...fateOf(byId.get(id)!, { pid, atMs }, effects.get(id)) })),
  );
}

export const interruptions = (all: readonly Fate[]): Interrupted[] =>
  [...groupBy(all, ({ kind }) => kind)].map(([kind, fates]) => ({
    kind,
    messages: fates.filter(({ fate }) => fate !== "committed").length,
    committed: fates.filter(({ fate }) => fate === "committed").length,
    takeOversMs: fates.flatMap(({ waitedMs }) => waitedMs ?? []).toSorted((a, b) => a - b),
    neverBegunAgain: fates.filter(({ fate }) => fate === "gone").length,
  }));

/** The longest take-overs, one of each fault: without what else struck nobody could say why they took that long. */
export function longestTakeOvers(
  all: readonly Fate[],
  strikes: readonly Strike[],
  { count, beforeMs }: { count: number; beforeMs: number },
): TakeOver[] {
  const ofEach = [...groupBy(all, ({ atMs }) => atMs)].map(([atMs, fates]) => ({
    kind: fates[0]!.kind,
    atMs,
    waitedMs: Math.max(...fates.map(({ waitedMs }) => waitedMs ?? 0)),
  }));
  return ofEach
    .toSorted((a, b) => b.waitedMs - a.waitedMs)
    .slice(0, count)
    .map(({ kind, atMs, waitedMs }) => ({
      kind,
      waitedMs: Math.round(waitedMs),
      beside: strikes
        .filter((strike) => strike.atMs > atMs - beforeMs && strike.atMs < atMs + waitedMs)
        .map((strike) => `${strike.name} ${((strike.atMs - atMs) / 1000).toFixed(1)} s`),
    }));
}

function fateOf(
  all: readonly Begun[],
  { pid, atMs }: { pid: number; atMs: number },
  effectBy: number | undefined,
): Pick<Fate, "fate" | "waitedMs"> {
  if (effectBy === pid) return { fate: "committed" };
  const next = all.find((each) => each.pid !== pid && each.atMs > atMs);
  if (next) return { fate: "taken over", waitedMs: next.atMs - atMs };
  return { fate: effectBy === undefined ? "gone" : "elsewhere" };
}

export const quantile = (sorted: readonly number[], q: number): number | null =>
  sorted.length === 0
    ? null
    : Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))]!) / 1000;

// The word that was probably meant.

/** Optimal string alignment distance: insertions, deletions, replacements and swaps of neighbours. */
export function distance(a: string, b: string): number {
  const rows: number[][] = Array.from({ length: a.length + 1 }, (_, i) => [i]);
  for (let j = 0; j <= b.length; j++) rows[0]![j] = j;
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const replaced = rows[i - 1]![j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      let least = Math.min(rows[i - 1]![j]! + 1, rows[i]![j - 1]! + 1, replaced);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) least = Math.min(least, rows[i - 2]![j - 2]! + 1);
      rows[i]![j] = least;
    }
  }
  return rows[a.length]![b.length]!;
}

/** The nearest of the words, or undefined where none is near. */
export function nearest(given: string, words: readonly string[]): string | undefined {
  const ranked = words
    .map((word) => ({ word, far: distance(given, word) }))
    .toSorted((a, b) => a.far - b.far);
  const best = ranked[0];
  return best && best.far <= Math.max(1, Math.floor(given.length / 3)) ? best.word : undefined;
}

/** What was probably meant, as the end of a message; nothing where no name is near. */
export function meantHint(given: string, names: readonly string[]): string {
  const meant = nearest(given, names);
  return meant === undefined ? "" : `; did you mean ${meant}?`;
}

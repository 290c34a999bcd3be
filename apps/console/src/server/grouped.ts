/** The rows by what `keyOf` says of each, in the order in which the keys come first. */
export function grouped<T>(rows: readonly T[], keyOf: (row: T) => string): Map<string, [T, ...T[]]> {
  const groups = new Map<string, [T, ...T[]]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group) group.push(row);
    else groups.set(keyOf(row), [row]);
  }
  return groups;
}

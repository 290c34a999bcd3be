// Times for a person: in the largest unit of which there are at least two.
const units = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
] as const;

export function inWords(ms: number): string {
  const [name, size] = units.find(([, each]) => ms >= 2 * each) ?? ["s", 1000];
  return `${Math.round((ms / size) * 10) / 10} ${name}`;
}

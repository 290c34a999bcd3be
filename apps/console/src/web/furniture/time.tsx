// Times as people read them: how long ago at a glance, the local instant beside it, UTC on hover.
const units: readonly (readonly [string, number])[] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1000],
];

/** `4 min`, `2 h 5 min`, `350 ms`. Two units at most, and one from ten on. */
export function durationText(ms: number): string {
  const positive = Math.max(0, ms);
  if (positive < 1000) return `${Math.round(positive)} ms`;
  const at = units.findIndex(([, size]) => positive >= size);
  const [name, size] = units[at]!;
  const count = Math.floor(positive / size);
  const below = units[at + 1];
  const rest = below ? Math.floor((positive % size) / below[1]) : 0;
  return count >= 10 || rest === 0 || !below ? `${count} ${name}` : `${count} ${name} ${rest} ${below[0]}`;
}

/** `2.4 s`: as exact as one wants it where spans are compared. */
export const spanText = (ms: number): string =>
  ms >= 1000 && ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : durationText(ms);

/** An age, rounded as one wants it in a list. */
export function ageText(ms: number): string {
  return ms < 1000 ? "just now" : durationText(ms);
}

const local = new Intl.DateTimeFormat(undefined, {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});

export function Age({ ms }: { readonly ms: number | null }) {
  if (ms === null) return <span className="zero">–</span>;
  return (
    <time className="number" dateTime={`PT${Math.round(ms / 1000)}S`} title={`${Math.round(ms / 1000)} s`}>
      {ageText(ms)}
    </time>
  );
}

export function Duration({ ms }: { readonly ms: number | null }) {
  if (ms === null) return <span className="zero">–</span>;
  return <span className="number">{durationText(ms)}</span>;
}

export function Instant({ ms }: { readonly ms: number | null }) {
  if (ms === null) return <span className="zero">–</span>;
  const date = new Date(ms);
  return (
    <time className="number" dateTime={date.toISOString()} title={`${date.toISOString()} (UTC)`}>
      {local.format(date)}
    </time>
  );
}

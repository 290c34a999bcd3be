// An instant as the clocks of the schedule's zone show it.
const formats = new Map<string, Intl.DateTimeFormat>();

function formatIn(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const made = new Intl.DateTimeFormat(undefined, {
    timeZone,
    weekday: "short",
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
  formats.set(timeZone, made);
  return made;
}

export function Zoned({ ms, timeZone }: { readonly ms: number; readonly timeZone: string }) {
  const date = new Date(ms);
  return (
    <time className="number" dateTime={date.toISOString()} title={`${date.toISOString()} (UTC)`}>
      {formatIn(timeZone).format(date)}
    </time>
  );
}

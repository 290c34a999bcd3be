// The server counts no further than this; what is above says so.
const countedTo = 100_000;

export const countText = (value: number): string =>
  value >= countedTo ? `${countedTo.toLocaleString("en")}+` : value.toLocaleString("en");

/** So many a minute or a second: the small ones with a decimal. */
export const rateText = (value: number): string =>
  value === 0 ? "0" : value < 0.05 ? "< 0.1" : value < 10 ? value.toFixed(1) : countText(Math.round(value));

/** How much of the whole it is, rounded down: the whole alone is 100. */
export const percentText = (part: number, whole: number): string =>
  whole === 0 ? "–" : `${Math.floor((part / whole) * 100)} %`;

/** A number of things; a zero steps back. */
export function Count({ value }: { readonly value: number }) {
  return <span className={value === 0 ? "number zero" : "number"}>{countText(value)}</span>;
}

/** `1 record`, `3 records`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${countText(count)} ${count === 1 ? one : many}`;

/** So many a minute or a second; a zero steps back. */
export function Rate({ value }: { readonly value: number }) {
  return <span className={value === 0 ? "number zero" : "number"}>{rateText(value)}</span>;
}

// The server counts no further than this; what is above says so.
const countedTo = 100_000;

export const countText = (value: number): string =>
  value >= countedTo ? `${countedTo.toLocaleString("en")}+` : value.toLocaleString("en");

/** So many a minute: the small ones with a decimal. */
export const rateText = (value: number): string =>
  value === 0 ? "0" : value < 10 ? value.toFixed(1) : countText(Math.round(value));

/** A number of things; a zero steps back. */
export function Count({ value }: { readonly value: number }) {
  return <span className={value === 0 ? "number zero" : "number"}>{countText(value)}</span>;
}

// The server counts no further than this; what is above says so.
const countedTo = 100_000;

export const countText = (value: number): string =>
  value >= countedTo ? `${countedTo.toLocaleString("en")}+` : value.toLocaleString("en");

/** A number of things; a zero steps back. */
export function Count({ value }: { readonly value: number }) {
  return <span className={value === 0 ? "number zero" : "number"}>{countText(value)}</span>;
}

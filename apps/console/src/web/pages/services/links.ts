export const serviceHref = (name: string): string => `/services/${encodeURIComponent(name)}`;

const mebibyte = 2 ** 20;

export const mebibytes = (bytes: number): string =>
  `${Math.round(bytes / mebibyte).toLocaleString("en")} MiB`;

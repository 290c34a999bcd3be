// Where something was declared, so that what is said about it later leads there.

/** The file and line of whoever called the function that calls this; undefined where the stack does not say. */
export function placeOfCaller(): string | undefined {
  const line = new Error().stack?.split("\n")[3];
  const [, at] = /\(?((?:file:\/\/)?\/[^()]*:\d+):\d+\)?$/.exec(line ?? "") ?? [];
  return at?.startsWith("file:") ? decodeURIComponent(new URL(at).pathname) : at;
}

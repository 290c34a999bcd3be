// Times as an application declares them, with the place where it does, so that a finding leads there.
import { fileURLToPath } from "node:url";
import type { TimingDeclaration } from "./check.ts";

export interface TimingDefinition {
  readonly kind: "timing";
  readonly declaration: TimingDeclaration;
}

/** The file and line of whoever called the function that calls this; undefined where the stack does not say. */
function placeOfCaller(): string | undefined {
  const line = new Error().stack?.split("\n")[3];
  const [, at] = /\(?((?:file:\/\/)?\/[^()]*:\d+):\d+\)?$/.exec(line ?? "") ?? [];
  return at?.startsWith("file:")
    ? at.replace(/^(.*):(\d+)$/, (_, file: string, row: string) => `${fileURLToPath(file)}:${row}`)
    : at;
}

/** Declares times that belong together; export it, and `tuntas check` reads it. */
export function timing(declaration: TimingDeclaration): TimingDefinition {
  const place = declaration.place ?? placeOfCaller();
  return { kind: "timing", declaration: { ...declaration, ...(place !== undefined && { place }) } };
}

// Times as an application declares them, with the place where it does, so that a finding leads there.
import { placeOfCaller } from "../../core/place.ts";
import type { TimingDeclaration } from "./check.ts";

export interface TimingDefinition {
  readonly kind: "timing";
  readonly declaration: TimingDeclaration;
}

/** Declares times that belong together; export it, and `tuntas check` reads it. */
export function timing(declaration: TimingDeclaration): TimingDefinition {
  const place = declaration.place ?? placeOfCaller();
  return { kind: "timing", declaration: { ...declaration, ...(place !== undefined && { place }) } };
}

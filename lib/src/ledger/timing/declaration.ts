// Times as an application declares them, with the place where it does, so that a finding leads there.
import { refuseUnknown, type NamesOf } from "../../core/options.ts";
import { declaring, placeOfCaller } from "../../core/place.ts";
import type { TimingDeclaration } from "./check.ts";

export interface TimingDefinition {
  readonly kind: "timing";
  readonly declaration: TimingDeclaration;
}

const names: NamesOf<TimingDeclaration> = {
  name: true,
  place: true,
  lease: true,
  heartbeat: true,
  taskTimeout: true,
  businessExpiry: true,
  visibility: true,
  p99: true,
  measured: { p99Ms: true, attempts: true },
  attempt: true,
  downstream: true,
  retries: true,
  margin: true,
  drain: true,
  accepts: true,
};

function declareTiming(declaration: TimingDeclaration): TimingDefinition {
  refuseUnknown("timing", declaration, names);
  const place = declaration.place ?? placeOfCaller();
  return { kind: "timing", declaration: { ...declaration, ...(place !== undefined && { place }) } };
}

/** Declares times that belong together; export it, and `tuntas check` reads it. */
export const timing = declaring(declareTiming);

// Declaring reconciliations. What one must say is checked here as well as by the compiler, so that an untyped declaration
// is refused too, with everything that it leaves out at once.
import { unknownOptions, type NamesOf } from "../../core/options.ts";
import { dayMs, got, isText, wrongTime, type Finding } from "../../engine/findings.ts";
import { ledgerErrors } from "../contract.ts";
import type { Reconciliation, ReconciliationOptions } from "./contract.ts";

const optionNames: NamesOf<ReconciliationOptions> = {
  name: true,
  invariant: true,
  anomaly: true,
  owner: true,
  of: true,
  every: true,
  source: true,
  derived: true,
  judge: true,
  repair: true,
};

function* findings(options: ReconciliationOptions): Generator<Finding> {
  yield* unknownOptions(options, optionNames);
  for (const field of ["name", "invariant", "anomaly", "owner"] as const)
    yield !isText(options[field]) && `${field}: expected a text, ${got(options[field])}`;
  yield !isText(options.of?.name) && `of: expected the workload that it watches over, ${got(options.of)}`;
  if (options.every !== "on demand") yield wrongTime("every", options.every, [1000, 366 * dayMs], "1h");
  for (const field of ["source", "derived"] as const)
    yield typeof options[field] !== "function" && `${field}: expected a function, ${got(options[field])}`;
}

/** Declares a reconciliation. Errors: TUNTAS_RECONCILIATION_OPTIONS, which names everything that is missing. */
export function reconciliation(options: ReconciliationOptions): Reconciliation {
  const found = [...findings(options ?? {})].filter(Boolean);
  if (found.length > 0)
    throw ledgerErrors.error(
      "TUNTAS_RECONCILIATION_OPTIONS",
      `reconciliation ${JSON.stringify(options?.name)}: ${found.join("; ")}`,
    );
  return { kind: "reconciliation", options };
}

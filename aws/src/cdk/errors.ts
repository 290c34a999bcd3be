// What is refused before anything is deployed.
import { catalogue, type TuntasError } from "tuntas";

export const deployErrors = catalogue({
  TUNTAS_DEPLOY_OPTIONS: {
    meaning: "What `TuntasApp` was given does not fit what the application declares.",
    remedy:
      "Say for each service and workflow what the message asks for, and name nothing that is not declared.",
  },
  TUNTAS_DEPLOY_UNSUPPORTED: {
    meaning: "AWS has nothing that does what is declared, so that it would be dropped or done otherwise.",
    remedy:
      "Change the declaration as the message says; or leave it to the application's PostgreSQL, which does it on AWS too: name its key in `inDatabase`.",
  },
});

export const unfit = (what: string, why: string): TuntasError =>
  deployErrors.error("TUNTAS_DEPLOY_OPTIONS", `${what}: ${why}`);

export const unsupported = (what: string, why: string): TuntasError =>
  deployErrors.error("TUNTAS_DEPLOY_UNSUPPORTED", `${what}: ${why}`);

/** Refuses a number that the service of AWS has no room for. */
export function checkWithin(
  what: string,
  value: number,
  { min, max, unit }: { readonly min: number; readonly max: number; readonly unit: string },
): void {
  if (Number.isInteger(value) && value >= min && value <= max) return;
  throw unsupported(what, `expected ${min} to ${max} ${unit}, whole ones, got ${value}`);
}

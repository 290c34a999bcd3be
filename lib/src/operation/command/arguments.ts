// The arguments of a command: read against what it declares, compared with what a role may give, and written as words of a
// command line. Pure.
import { parseTimestamp } from "../../core/timestamp.ts";
import { isStorable } from "../../core/text.ts";
import type { ArgumentSpec, ArgumentSpecs, ArgumentValue, Grant, Granted } from "./contract.ts";

type Values = Readonly<Record<string, ArgumentValue>>;

const textMax = 1000;

function numberOf(value: unknown, { least, most }: ArgumentSpec & { type: "number" }): number | undefined {
  const number = typeof value === "string" && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  return Number.isSafeInteger(number) && (number as number) >= least && (number as number) <= most
    ? (number as number)
    : undefined;
}

const flagOf = (value: unknown): boolean | undefined =>
  value === true || value === "true" ? true : value === false || value === "false" ? false : undefined;

/** What was given as the argument, as it is kept; undefined where it is not what it may be. */
function valueOf(spec: ArgumentSpec, value: unknown): ArgumentValue | undefined {
  if (spec.type === "number") return numberOf(value, spec);
  if (spec.type === "flag") return flagOf(value);
  if (typeof value !== "string" || value.length > textMax || !isStorable(value)) return undefined;
  if (spec.type === "choice") return spec.of.includes(value) ? value : undefined;
  if (spec.type === "date")
    return /^\d{4}-\d\d-\d\d$/.test(value) && parseTimestamp(`${value}T00:00:00Z`) !== undefined
      ? value
      : undefined;
  return new RegExp(`^(?:${spec.pattern})$`, "u").test(value) ? value : undefined;
}

/** What an argument may be, for people. */
export function formOf(spec: ArgumentSpec): string {
  if (spec.type === "number") return `a whole number from ${spec.least} to ${spec.most}`;
  if (spec.type === "choice") return `one of ${spec.of.join(", ")}`;
  if (spec.type === "date") return "a date such as 2026-07-06";
  return spec.type === "flag" ? "true or false" : `a text of the form ${spec.pattern}`;
}

const has = (of: object, name: string): boolean => Object.hasOwn(of, name);

/** The arguments in the order in which they are declared, and everything that is wrong with them. */
export function readArguments(
  specs: ArgumentSpecs,
  given: Readonly<Record<string, unknown>>,
): { readonly values: Values; readonly wrong: readonly string[] } {
  const wrong = Object.keys(given)
    .filter((name) => !has(specs, name))
    .map((name) => `${name}: unknown; it takes ${Object.keys(specs).join(", ") || "no argument"}`);
  const values: Record<string, ArgumentValue> = {};
  for (const [name, spec] of Object.entries(specs)) {
    const raw = has(given, name) ? given[name] : undefined;
    if (raw === undefined) {
      if (!spec.optional) wrong.push(`${name}: missing; expected ${formOf(spec)}`);
      continue;
    }
    const value = valueOf(spec, raw);
    if (value === undefined) wrong.push(`${name}: expected ${formOf(spec)}, got ${JSON.stringify(raw)}`);
    else values[name] = value;
  }
  return { values, wrong };
}

const covers = (granted: Granted, value: ArgumentValue | undefined): boolean =>
  value !== undefined &&
  ("from" in granted ? value >= granted.from && value <= granted.to : granted.includes(value));

const grantedText = (granted: Granted): string =>
  "from" in granted ? `from ${granted.from} to ${granted.to}` : granted.join(", ");

/** What of the arguments goes beyond the grant. Left out is all, and so beyond a grant of some. */
export const beyond = (grant: Grant, values: Values): string[] =>
  grant === "any"
    ? []
    : Object.entries(grant)
        .filter(([name, granted]) => !covers(granted, values[name]))
        .map(
          ([name, granted]) =>
            `${name}: granted is ${grantedText(granted)}, asked for ${values[name] ?? "all"}`,
        );

const kebab = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** As a program gets them, and as people write them down. */
export const wordsOf = (values: Values, dryRun: boolean): string[] => [
  ...Object.entries(values).flatMap(([name, value]) =>
    typeof value === "boolean" ? [`--${kebab(name)}=${value}`] : [`--${kebab(name)}`, String(value)],
  ),
  `--dry-run=${dryRun}`,
];

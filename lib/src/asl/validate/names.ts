// Names of a whole definition: of states and of Maps' labels, which are there once, and of what states assign.
import type { Json, JsonObject } from "../contract.ts";
import { limits } from "../limits.ts";
import { isObject } from "../path/evaluate.ts";
import { itemsOf, type Report } from "./shape.ts";

/** The names that were seen so far. */
export interface Names {
  readonly states: Set<string>;
  readonly labels: Set<string>;
}

export const noNames = (): Names => ({ states: new Set(), labels: new Set() });

export function checkStateName(name: string, at: string, { states }: Names, report: Report): void {
  if (name.length > limits.stateNameCharacters)
    report(at, tooLong("State", name, limits.stateNameCharacters), "INVALID_STATE_NAME");
  if (states.has(name)) report(at, `Duplicate State name: ${name}`, "DUPLICATE_STATE_NAME");
  states.add(name);
}

const tooLong = (what: string, name: string, max: number): string =>
  `${what} name '${name}' exceeds the ${max}-character limit allowed by the service`;

// What the documentation lists, and control characters.
// oxlint-disable-next-line no-control-regex
const notInLabel = /[\s?*<>{}[\]:;,\\|^~$#%&`"/\u0000-\u001f\u007f-\u009f]/;

export function checkLabel(label: Json | undefined, at: string, { labels }: Names, report: Report): void {
  if (typeof label !== "string") return;
  if (label.length > limits.labelCharacters)
    report(at, tooLong("Label", label, limits.labelCharacters), "INVALID_LABEL_NAME");
  if (notInLabel.test(label))
    report(at, `Label name '${label}' contains invalid characters`, "INVALID_LABEL_NAME");
  if (labels.has(label)) report(at, `Duplicate Label name: ${label}`, "DUPLICATE_LABEL_NAME");
  labels.add(label);
}

/** What the state assigns, itself and by its catchers and rules. */
export function checkVariables(state: JsonObject, language: string, at: string, report: Report): void {
  const within = ["Catch", "Choices"].flatMap((field) => itemsOf(state, field, at));
  for (const { part, location } of [{ part: state, location: at }, ...within]) {
    if (!isObject(part.Assign)) continue;
    for (const key of Object.keys(part.Assign)) {
      const name = language === "JSONPath" ? key.replace(/\.\$$/, "") : key;
      checkVariable(name, `${location}/Assign/${key}`, report);
    }
  }
}

const variable = /^\p{ID_Start}\p{ID_Continue}*$/u;

function checkVariable(name: string, at: string, report: Report): void {
  if (name === "states")
    return report(at, "Cannot assign to reserved variable '$states'.", "RESERVED_VARIABLE_NAME");
  const isLong = name.length > limits.variableNameCharacters;
  const why = isLong
    ? `exceeds the ${limits.variableNameCharacters}-character limit`
    : "contains invalid characters";
  if (isLong || !variable.test(name))
    report(at, `Invalid variable name '${name}': the variable name ${why}.`, "INVALID_VARIABLE_NAME");
}

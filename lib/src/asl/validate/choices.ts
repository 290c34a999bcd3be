// The rules of a Choice: one way to decide each, an operand of its operator's type, and a target for the outermost alone.
import { type Kind, operandOf } from "../choice.ts";
import type { Json, JsonObject } from "../contract.ts";
import { isObject } from "../path/evaluate.ts";
import { parseTimestamp } from "../../core/timestamp.ts";
import { checkRuleFields, itemsOf, type Report, selectors } from "./shape.ts";
import { checkReferencePath } from "./texts.ts";

interface Rule {
  readonly part: JsonObject;
  readonly location: string;
}

export function checkChoices(state: JsonObject, language: string, at: string, report: Report): void {
  if (!Array.isArray(state.Choices) || state.Choices.length === 0)
    return report(`${at}/Choices`, "Value cannot be empty");
  for (const rule of itemsOf(state, "Choices", at)) {
    checkRuleFields(rule, { language, isOutermost: true }, report);
    checkRule(rule, language, report);
  }
}

function checkRule(rule: Rule, language: string, report: Report): void {
  const { part, location } = rule;
  const chosen = selectors.filter((field) => part[field] !== undefined);
  if (chosen.length !== 1)
    return report(
      location,
      `The object must have only one of the following fields, [${selectors.join(", ")}]`,
    );
  if (language === "JSONata" || chosen[0] === "Condition") return;
  if (chosen[0] === "Variable") return checkTest(rule, report);
  for (const inner of innerOf(rule, chosen[0]!, report)) {
    checkRuleFields(inner, { language, isOutermost: false }, report);
    checkRule(inner, language, report);
  }
}

function innerOf({ part, location }: Rule, field: string, report: Report): readonly Rule[] {
  const value = part[field]!;
  if (field === "Not") {
    if (isObject(value)) return [{ part: value, location: `${location}/Not` }];
    report(`${location}/Not`, "Expected value of type Object");
    return [];
  }
  const rules = itemsOf(part, field, location);
  if (rules.length === 0) report(`${location}/${field}`, "Value cannot be empty");
  return rules;
}

function checkTest({ part, location }: Rule, report: Report): void {
  checkReferencePath(part.Variable!, `${location}/Variable`, report);
  const operators = Object.keys(part).filter((field) => operandOf(field) !== undefined);
  if (operators.length === 0) return report(location, "A rule with 'Variable' needs a comparison operator");
  if (operators.length > 1)
    report(location, `There should only be one of the following fields: [${operators.join(", ")}]`);
  for (const operator of operators)
    checkOperand(part[operator]!, operandOf(operator)!, `${location}/${operator}`, report);
}

const holds: Readonly<Record<Kind, (value: Json) => boolean>> = {
  String: (value) => typeof value === "string",
  Numeric: (value) => typeof value === "number",
  Boolean: (value) => typeof value === "boolean",
  Timestamp: (value) => typeof value === "string",
};

function checkOperand(value: Json, kind: Kind | "Path", at: string, report: Report): void {
  if (kind === "Path") return checkReferencePath(value, at, report);
  if (!holds[kind](value))
    return report(at, `Expected value of type ${kind === "Timestamp" ? "String" : kind}`);
  if (kind === "Timestamp" && parseTimestamp(value as string) === undefined)
    report(at, "String does not match RFC3339 timestamp");
}

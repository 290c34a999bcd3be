// The states that need nobody: Pass, Choice, Wait, Succeed and Fail.
import { unexpectedType } from "../choice.ts";
import type { Failure, Json } from "../contract.ts";
import { queryFailure, runtimeFailure, StateFailure } from "../failure.ts";
import {
  asking,
  effectiveInput,
  leave,
  leaveUnchanged,
  leaveWithResult,
  maybe,
  outputOf,
  parametersOf,
  type Work,
} from "../flow.ts";
import { limits } from "../limits.ts";
import type { ChoiceRule, Setting } from "../parse.ts";
import { PathMissing } from "../path/evaluate.ts";
import { type Asking, valueOf } from "../query/query.ts";
import { scopeOf, setWait, startTimer, type Visit } from "../run.ts";
import { parseTimestamp } from "../../core/timestamp.ts";

export function enterPass(visit: Visit): Work {
  const { spec } = visit;
  if (spec.language === "JSONata") return leaveUnchanged(visit, spec.next);
  return leaveWithResult(visit, spec.result ?? parametersOf(visit));
}

export function enterSucceed(visit: Visit): Work {
  return leaveUnchanged(visit, undefined);
}

export function* enterFail(visit: Visit): Asking<void> {
  const { branch, spec } = visit;
  const error = yield* maybe(spec.error, scopeOf(visit, branch.input));
  const cause = yield* maybe(spec.cause, scopeOf(visit, branch.input));
  const failure: Failure = {
    ...(error === undefined ? {} : { error: asText(visit, error, "Error") }),
    ...(cause === undefined ? {} : { cause: asText(visit, cause, "Cause") }),
  };
  throw new StateFailure(failure);
}

function asText({ spec }: Visit, value: Json, field: "Error" | "Cause"): string {
  if (typeof value === "string") return value;
  const { definition, language } = spec;
  if (language === "JSONPath")
    throw runtimeFailure(
      `The ${field}Path parameter does not reference a string value: ${String(definition[`${field}Path`])} == ${JSON.stringify(value)}`,
    );
  const expression = String(definition[field]).slice(2, -2).trim();
  throw queryFailure(unexpectedType(expression, field, "string", value), field);
}

export function enterChoice(visit: Visit): Work {
  const { spec } = visit;
  if (spec.language === "JSONata") return askChoices(visit);
  const input = effectiveInput(visit);
  const scope = scopeOf(visit, input);
  const rule = spec.choices.find(({ test }) => test!(scope));
  if (!rule) return takeDefault(visit);
  const assigned = rule.assign?.now!(scope);
  leave(visit, { output: outputOf(visit, input), next: rule.next, assigned });
}

function* askChoices(visit: Visit): Asking<void> {
  const { branch, spec } = visit;
  const scope = scopeOf(visit, branch.input);
  for (const rule of spec.choices) {
    if (yield* rule.ask!(scope)) return yield* takeChoice(visit, rule);
  }
  yield* asking(takeDefault(visit));
}

function takeDefault(visit: Visit): Work {
  const { spec } = visit;
  if (spec.defaultNext !== undefined) return leaveUnchanged(visit, spec.defaultNext);
  throw new StateFailure({
    error: "States.NoChoiceMatched",
    cause: `There is no Default state specified for the Choice state '${spec.name}', and the input did not match any of the Choices.`,
  });
}

function* takeChoice(visit: Visit, rule: ChoiceRule): Asking<void> {
  const { branch, spec } = visit;
  const assigned = yield* maybe(rule.assign, scopeOf(visit, branch.input));
  const output = (yield* maybe(rule.output ?? spec.output, scopeOf(visit, branch.input))) ?? branch.input;
  leave(visit, { output, next: rule.next, assigned });
}

export function* enterWait(visit: Visit): Asking<void> {
  const { run, branch, spec } = visit;
  const dueMs = spec.seconds
    ? run.event.nowMs + 1000 * (yield* waitSeconds(visit, spec.seconds))
    : yield* waitUntil(visit, spec.timestamp!);
  if (dueMs <= run.event.nowMs) return yield* asking(leaveUnchanged(visit, spec.next));
  const timer = startTimer(run, dueMs);
  setWait(branch, { for: "timer", timer, reason: "wait" });
}

function* settingValue(visit: Visit, setting: Setting): Asking<Json> {
  const scope = scopeOf(visit, effectiveInput(visit));
  try {
    return yield* valueOf(setting.query, scope);
  } catch (error) {
    const missing = error instanceof PathMissing || (setting.byPath && error instanceof StateFailure);
    throw missing
      ? runtimeFailure(`The ${setting.field} parameter does not reference an input value: ${setting.text}`)
      : error;
  }
}

function checkedWait(seconds: number, setting: Setting, shown: string): number {
  if (seconds <= limits.waitSeconds) return seconds;
  throw runtimeFailure(
    `The ${setting.field} parameter must be at most ${limits.waitSeconds} seconds: ${shown}`,
  );
}

function* waitSeconds(visit: Visit, setting: Setting): Asking<number> {
  const value = yield* settingValue(visit, setting);
  const shown = `${setting.text} == ${JSON.stringify(value)}`;
  if (Number.isInteger(value) && (value as number) >= 0) return checkedWait(value as number, setting, shown);
  if (setting.byPath && Number.isInteger(value))
    throw runtimeFailure(`The ${setting.field} parameter references a negative value: ${shown}`);
  if (setting.byPath)
    throw runtimeFailure(`The ${setting.field} parameter cannot be parsed as a long value: ${shown}`);
  throw queryFailure(unexpectedType(setting.text, setting.field, "integer", value), setting.field);
}

function* waitUntil(visit: Visit, setting: Setting): Asking<number> {
  const value = yield* settingValue(visit, setting);
  const dueMs = typeof value === "string" ? parseTimestamp(value) : undefined;
  if (dueMs !== undefined) return Math.ceil(dueMs);
  const shown = typeof value === "string" ? value : JSON.stringify(value);
  if (!setting.byPath)
    throw queryFailure(
      `The ${setting.field} field cannot be parsed as an ISO-8601 extended offset date-time format string: ${shown}`,
      setting.field,
    );
  throw runtimeFailure(
    `The ${setting.field} parameter does not reference a valid ISO-8601 extended offset date-time format string: ${setting.text} == ${shown}`,
  );
}

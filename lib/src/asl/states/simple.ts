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
import type { ChoiceRule, Setting, StateSpec } from "../parse.ts";
import { PathMissing } from "../path/evaluate.ts";
import { type Asking, valueOf } from "../query/query.ts";
import { type DraftBranch, type Run, scopeOf, serial, setWait } from "../run.ts";
import { parseTimestamp } from "../timestamp.ts";

export function enterPass(run: Run, branch: DraftBranch, spec: StateSpec): Work {
  if (spec.language === "JSONata") return leaveUnchanged(run, branch, spec, spec.next);
  return leaveWithResult(run, branch, spec, spec.result ?? parametersOf(run, branch, spec));
}

export function enterSucceed(run: Run, branch: DraftBranch, spec: StateSpec): Work {
  return leaveUnchanged(run, branch, spec, undefined);
}

export function* enterFail(run: Run, branch: DraftBranch, spec: StateSpec): Asking<void> {
  const error = yield* maybe(spec.error, run, branch, branch.input);
  const cause = yield* maybe(spec.cause, run, branch, branch.input);
  const failure: Failure = {
    ...(error === undefined ? {} : { error: asText(error, "Error") }),
    ...(cause === undefined ? {} : { cause: asText(cause, "Cause") }),
  };
  throw new StateFailure(failure);
}

function asText(value: Json, field: string): string {
  if (typeof value === "string") return value;
  throw queryFailure(unexpectedType(JSON.stringify(value), field, "string", value), field);
}

export function enterChoice(run: Run, branch: DraftBranch, spec: StateSpec): Work {
  if (spec.language === "JSONata") return askChoices(run, branch, spec);
  const input = effectiveInput(run, branch, spec);
  const scope = scopeOf(run, branch, input);
  const rule = spec.choices.find(({ test }) => test!(scope));
  if (!rule) return takeDefault(run, branch, spec);
  const assigned = rule.assign?.now!(scope);
  leave(run, branch, spec, { output: outputOf(run, branch, spec, input), next: rule.next, assigned });
}

function* askChoices(run: Run, branch: DraftBranch, spec: StateSpec): Asking<void> {
  const scope = scopeOf(run, branch, branch.input);
  for (const rule of spec.choices) {
    if (yield* rule.ask!(scope)) return yield* takeChoice(run, branch, spec, rule);
  }
  yield* asking(takeDefault(run, branch, spec));
}

function takeDefault(run: Run, branch: DraftBranch, spec: StateSpec): Work {
  if (spec.defaultNext !== undefined) return leaveUnchanged(run, branch, spec, spec.defaultNext);
  throw new StateFailure({
    error: "States.NoChoiceMatched",
    cause: `There is no Default state specified for the Choice state '${spec.name}', and the input did not match any of the Choices.`,
  });
}

function* takeChoice(run: Run, branch: DraftBranch, spec: StateSpec, rule: ChoiceRule): Asking<void> {
  const assigned = yield* maybe(rule.assign, run, branch, branch.input);
  const output = (yield* maybe(rule.output ?? spec.output, run, branch, branch.input)) ?? branch.input;
  leave(run, branch, spec, { output, next: rule.next, assigned });
}

export function* enterWait(run: Run, branch: DraftBranch, spec: StateSpec): Asking<void> {
  const dueMs = spec.seconds
    ? run.event.nowMs + 1000 * (yield* waitSeconds(run, branch, spec, spec.seconds))
    : yield* waitUntil(run, branch, spec, spec.timestamp!);
  if (dueMs <= run.event.nowMs) return yield* asking(leaveUnchanged(run, branch, spec, spec.next));
  const timer = serial(run);
  run.commands.push({ type: "startTimer", timer, dueMs });
  setWait(branch, { for: "timer", timer, reason: "wait" });
}

function* settingValue(run: Run, branch: DraftBranch, spec: StateSpec, setting: Setting): Asking<Json> {
  const scope = scopeOf(run, branch, effectiveInput(run, branch, spec));
  try {
    return yield* valueOf(setting.query, scope);
  } catch (error) {
    const missing = error instanceof PathMissing || (setting.byPath && error instanceof StateFailure);
    throw missing
      ? runtimeFailure(`The ${setting.field} parameter does not reference an input value: ${setting.text}`)
      : error;
  }
}

function* waitSeconds(run: Run, branch: DraftBranch, spec: StateSpec, setting: Setting): Asking<number> {
  const value = yield* settingValue(run, branch, spec, setting);
  if (Number.isInteger(value) && (value as number) >= 0) return value as number;
  const shown = `${setting.text} == ${JSON.stringify(value)}`;
  if (setting.byPath && Number.isInteger(value))
    throw runtimeFailure(`The ${setting.field} parameter references a negative value: ${shown}`);
  if (setting.byPath)
    throw runtimeFailure(`The ${setting.field} parameter cannot be parsed as a long value: ${shown}`);
  throw queryFailure(unexpectedType(setting.text, setting.field, "integer", value), setting.field);
}

function* waitUntil(run: Run, branch: DraftBranch, spec: StateSpec, setting: Setting): Asking<number> {
  const value = yield* settingValue(run, branch, spec, setting);
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

// What the service's model says of each member: its length or range, its pattern, its values. All that is wrong is said at
// once, as AWS does. Source: the service's model and the API reference.
import { isStorable } from "tuntas/queue";
import type { Asker } from "tuntas/schedule";
import type { Call } from "../wire.ts";
import { invalid } from "./errors.ts";

interface Rule {
  readonly min?: number;
  readonly max?: number;
  readonly pattern?: string;
  readonly oneOf?: readonly string[];
}

const name: Rule = { min: 1, max: 64, pattern: "[0-9a-zA-Z-_.]+" };
const tagKey: Rule = { min: 1, max: 128 };

const rules: Readonly<Record<string, Rule>> = {
  ActionAfterCompletion: { oneOf: ["NONE", "DELETE"] },
  ClientToken: { min: 1, max: 64, pattern: "[a-zA-Z0-9-_]+" },
  Description: { max: 512 },
  "FlexibleTimeWindow.MaximumWindowInMinutes": { min: 1, max: 1440 },
  "FlexibleTimeWindow.Mode": { oneOf: ["OFF", "FLEXIBLE"] },
  GroupName: name,
  KmsKeyArn: {
    min: 1,
    max: 2048,
    pattern: "arn:aws(-[a-z]+)?:kms:[a-z0-9\\-]+:\\d{12}:(key|alias)\\/[0-9a-zA-Z-_]*",
  },
  MaxResults: { min: 1, max: 100 },
  Name: name,
  NamePrefix: name,
  NextToken: { min: 1, max: 2048 },
  ResourceArn: {
    min: 1,
    max: 1011,
    pattern: "arn:aws(-[a-z]+)?:scheduler:[a-z0-9\\-]+:\\d{12}:schedule-group\\/[0-9a-zA-Z-_.]+",
  },
  ScheduleExpression: { min: 1, max: 256 },
  ScheduleExpressionTimezone: { min: 1, max: 50 },
  State: { oneOf: ["ENABLED", "DISABLED"] },
  "Target.Arn": { min: 1, max: 1600 },
  "Target.DeadLetterConfig.Arn": {
    min: 1,
    max: 1600,
    pattern: "arn:aws(-[a-z]+)?:sqs:[a-z0-9\\-]+:\\d{12}:[a-zA-Z0-9\\-_]+",
  },
  "Target.Input": { min: 1 },
  "Target.RetryPolicy.MaximumEventAgeInSeconds": { min: 60, max: 86_400 },
  "Target.RetryPolicy.MaximumRetryAttempts": { min: 0, max: 185 },
  "Target.RoleArn": { min: 1, max: 1600, pattern: "arn:aws(-[a-z]+)?:iam::\\d{12}:role\\/[\\w+=,.@\\/-]+" },
  "Target.SqsParameters.MessageGroupId": { min: 1, max: 128 },
  "Tags.Key": tagKey,
  "Tags.Value": { min: 1, max: 256 },
  TagKeys: tagKey,
};

type Given = Readonly<Record<string, unknown>>;

const read = (input: Given, path: string): unknown =>
  path.split(".").reduce<unknown>((value, member) => (value as Given | undefined)?.[member], input);

/** `flexibleTimeWindow.mode` */
const spelled = (path: string): string => path.replaceAll(/(^|\.)([A-Z])/g, (text) => text.toLowerCase());

function* broken(value: string | number, { min, max, pattern, oneOf }: Rule): Generator<string> {
  const [size, kind] = typeof value === "number" ? [value, "value"] : [value.length, "length"];
  if (oneOf && !oneOf.includes(String(value)))
    yield `Member must satisfy enum value set: [${oneOf.join(", ")}]`;
  if (min !== undefined && size < min) yield `Member must have ${kind} greater than or equal to ${min}`;
  if (max !== undefined && size > max) yield `Member must have ${kind} less than or equal to ${max}`;
  if (pattern !== undefined && !new RegExp(`^${pattern}$`).test(String(value)))
    yield `Member must satisfy regular expression pattern: ^${pattern}$`;
}

const failed = (value: unknown, path: string, rule: string): string =>
  `Value '${String(value)}' at '${spelled(path)}' failed to satisfy constraint: ${rule}`;

const ofRule = (value: unknown, path: string): string[] => {
  const rule = rules[path];
  if (!rule || (typeof value !== "string" && typeof value !== "number")) return [];
  return [...broken(value, rule)].map((each) => failed(value, path, each));
};

/** Every text of the input with its path; those of lists have the path of their list. */
function* leaves(value: unknown, path: string): Generator<readonly [path: string, value: unknown]> {
  if (typeof value !== "object" || value === null) return yield [path, value];
  for (const [member, each] of Object.entries(value))
    yield* leaves(each, Array.isArray(value) ? path : path === "" ? member : `${path}.${member}`);
}

/** Errors: ValidationException, which names all that is wrong. */
export function checkInput(input: Given, required: readonly string[]): void {
  const absent = required
    .filter((path) => read(input, path) === undefined)
    .map((path) => `Value null at '${spelled(path)}' failed to satisfy constraint: Member must not be null`);
  const found = [...absent, ...[...leaves(input, "")].flatMap(([path, value]) => ofRule(value, path))];
  if (found.length > 0) {
    const count = `${found.length} validation error${found.length === 1 ? "" : "s"} detected`;
    throw invalid(`${count}: ${found.join("; ")}`);
  }
  for (const [path, value] of leaves(input, ""))
    if (typeof value === "string" && !isStorable(value))
      throw invalid(`The value at '${spelled(path)}' has a character that no text can hold.`);
}

/** Who asks, and what makes the request the same request. */
export const askerOf = (
  { scope }: Call,
  { ClientToken }: { readonly ClientToken?: string | undefined },
): Asker => ({ by: scope.account, token: ClientToken });

/** Times travel as seconds. */
export const seconds = (ms: number): number => Math.round(ms) / 1000;

const pageDefault = 100;

/** A token says after which names the next page begins. */
export const tokenOf = (after: readonly string[]): string =>
  Buffer.from(JSON.stringify(after)).toString("base64url");

const isTexts = (value: unknown, count: number): value is string[] =>
  Array.isArray(value) &&
  value.length === count &&
  value.every((each) => typeof each === "string" && isStorable(each));

/** Errors: ValidationException. */
export function readToken(token: string | undefined, count: number): string[] | undefined {
  if (token === undefined) return undefined;
  try {
    const after: unknown = JSON.parse(Buffer.from(token, "base64url").toString());
    if (isTexts(after, count)) return after;
  } catch {
    // Said below.
  }
  throw invalid("The NextToken is not one that this service gave.");
}

/** The page, and the token of the next where there is more: whoever reads asks for one more than the page has. */
export function cut<T>(items: readonly T[], size: number, after: (item: T) => readonly string[]) {
  const page = items.slice(0, size);
  return { page, ...(items.length > size ? { NextToken: tokenOf(after(page.at(-1)!)) } : {}) };
}

export const sizeOf = ({ MaxResults = pageDefault }: { readonly MaxResults?: number | undefined }): number =>
  MaxResults;

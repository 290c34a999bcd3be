// Tags of machines and activities.
import { parseArn, parseMachineArn } from "tuntas/workflow";
import { isStorable } from "tuntas/queue";
import type { ValueOf } from "../shape.ts";
import type { Call, Rooms } from "../wire.ts";
import { sfnError } from "./errors.ts";
import type { shapes } from "./shapes.ts";

type Input<Name extends keyof typeof shapes> = ValueOf<(typeof shapes)[Name]>;

const countMax = 50;

export function tagRecord(tags: Input<"tagResource">["tags"] = []): Readonly<Record<string, string>> {
  if (tags.length > countMax) throw sfnError("TooManyTags", `A resource has at most ${countMax} tags.`);
  const entries = tags.map(({ key, value }) => [key, value ?? ""] as const);
  if (entries.some(([key, value]) => !isStorable(key) || !isStorable(value)))
    throw sfnError("ValidationException", "A tag holds characters that no text can hold.");
  return Object.fromEntries(entries);
}

/** The ARN, if there is something that can be tagged. */
async function checkResource({ workflows }: Rooms, arn: string): Promise<string> {
  const parsed = parseArn(arn);
  if (!parsed) throw sfnError("InvalidArn", `Invalid ARN prefix: ${arn}`);
  const machine = parseMachineArn(arn);
  const found = machine
    ? machine.qualifier === undefined && (await workflows.machines.find(machine.scope, machine.name))
    : await workflows.activities.find(arn);
  if (!found) throw sfnError("ResourceNotFound", `Resource not found: '${arn}'`);
  return arn;
}

export async function listTagsForResource(rooms: Rooms, _call: Call, input: Input<"resource">) {
  const arn = await checkResource(rooms, input.resourceArn);
  return { tags: await rooms.workflows.tags.list(arn) };
}

export async function tagResource(rooms: Rooms, _call: Call, input: Input<"tagResource">) {
  const arn = await checkResource(rooms, input.resourceArn);
  const tags = tagRecord(input.tags);
  const present = (await rooms.workflows.tags.list(arn)).map(({ key }) => key);
  if (new Set([...present, ...Object.keys(tags)]).size > countMax)
    throw sfnError("TooManyTags", `A resource has at most ${countMax} tags.`);
  await rooms.workflows.tags.write(arn, tags);
  return {};
}

export async function untagResource(rooms: Rooms, _call: Call, input: Input<"untagResource">) {
  const arn = await checkResource(rooms, input.resourceArn);
  await rooms.workflows.tags.remove(arn, input.tagKeys.filter(isStorable));
  return {};
}

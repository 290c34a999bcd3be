// Groups of schedules over the wire, and their tags: a schedule itself has none.
import { defaultGroup, type Group, groupArn } from "tuntas/schedule";
import type { Scope } from "tuntas/queue";
import type { ValueOf } from "../shape.ts";
import type { Call, Rooms } from "../wire.ts";
import { askerOf, cut, readToken, seconds, sizeOf } from "./checks.ts";
import { invalid, schedulerError, tokenTaken } from "./errors.ts";
import type { shapes } from "./shapes.ts";

type Input<Name extends keyof typeof shapes> = ValueOf<(typeof shapes)[Name]>;

export const groupMissing = (name: string) =>
  schedulerError("ResourceNotFoundException", `Schedule group ${name} does not exist.`);

const tagsMax = 50;

function tagRecord(tags: Input<"tagResource">["Tags"] = []): Readonly<Record<string, string>> {
  return Object.fromEntries(tags.map(({ Key, Value }) => [Key, Value]));
}

function checkCount(tags: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  if (Object.keys(tags).length > tagsMax) throw invalid(`A schedule group has at most ${tagsMax} tags.`);
  return tags;
}

export async function createScheduleGroup({ schedules }: Rooms, call: Call, input: Input<"createGroup">) {
  const { Name: name, Tags } = input;
  const [place, tags] = [{ ...call.scope, name }, checkCount(tagRecord(Tags))];
  const status = await schedules.groups.create(place, tags, askerOf(call, input));
  if (status === "exists")
    throw schedulerError("ConflictException", `Schedule group ${name} already exists.`);
  if (status === "conflict") throw tokenTaken();
  return { ScheduleGroupArn: groupArn(call.scope, name) };
}

export async function deleteScheduleGroup({ schedules }: Rooms, call: Call, input: Input<"deleteGroup">) {
  const { Name: name } = input;
  if (name === defaultGroup) throw invalid("The default schedule group cannot be deleted.");
  const status = await schedules.groups.remove({ ...call.scope, name }, askerOf(call, input));
  if (status === "missing") throw groupMissing(name);
  if (status === "conflict") throw tokenTaken();
  return {};
}

const described = (group: Group) => ({
  Arn: groupArn(group, group.name),
  CreationDate: seconds(group.createdAtMs),
  LastModificationDate: seconds(group.changedAtMs),
  Name: group.name,
  State: "ACTIVE",
});

export async function getScheduleGroup({ schedules }: Rooms, call: Call, input: Input<"oneGroup">) {
  const group = await schedules.groups.find({ ...call.scope, name: input.Name });
  if (!group) throw groupMissing(input.Name);
  return described(group);
}

export async function listScheduleGroups({ schedules }: Rooms, call: Call, input: Input<"listGroups">) {
  const size = sizeOf(input);
  const [after = ""] = readToken(input.NextToken, 1) ?? [];
  const { NamePrefix: prefix = "" } = input;
  const found = await schedules.groups.list(call.scope, { prefix, after, limit: size + 1 });
  const { page, ...more } = cut(found, size, ({ name }) => [name]);
  return { ScheduleGroups: page.map(described), ...more };
}

const arnForm = /^arn:aws[a-z-]*:scheduler:([a-z0-9-]+):(\d{12}):schedule-group\/([^/]+)$/;

export const readGroupArn = (arn: string): (Scope & { readonly name: string }) | undefined => {
  const [, region, account, name] = arnForm.exec(arn) ?? [];
  return name === undefined ? undefined : { account: account!, region: region!, name };
};

/** The group of the ARN, which is of the caller's region. */
function placeOf({ scope }: Call, { ResourceArn: arn }: Input<"resource">) {
  const place = readGroupArn(arn);
  if (!place || place.region !== scope.region) throw resourceMissing(arn);
  return place;
}

const resourceMissing = (arn: string) =>
  schedulerError("ResourceNotFoundException", `Resource ${arn} does not exist.`);

export async function listTagsForResource({ schedules }: Rooms, call: Call, input: Input<"resource">) {
  const group = await schedules.groups.find(placeOf(call, input));
  if (!group) throw resourceMissing(input.ResourceArn);
  return { Tags: Object.entries(group.tags).map(([Key, Value]) => ({ Key, Value })) };
}

export async function tagResource({ schedules }: Rooms, call: Call, input: Input<"tagResource">) {
  const tags = tagRecord(input.Tags);
  const status = await schedules.groups.retag(placeOf(call, input), (now) => checkCount({ ...now, ...tags }));
  if (status === "missing") throw resourceMissing(input.ResourceArn);
  return {};
}

export async function untagResource({ schedules }: Rooms, call: Call, input: Input<"untagResource">) {
  const gone = new Set(input.TagKeys);
  const without = (now: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(now).filter(([key]) => !gone.has(key)));
  const status = await schedules.groups.retag(placeOf(call, input), without);
  if (status === "missing") throw resourceMissing(input.ResourceArn);
  return {};
}

// Schedules over the wire: a request as an arrangement of the schedule room, and what stands there in the words of AWS.
import {
  type Arranged,
  type Arrangement,
  defaultGroup,
  defaultRetry,
  type Place,
  scheduleArn,
  targetArn,
} from "tuntas/schedule";
import type { ValueOf } from "../shape.ts";
import type { Call, Rooms } from "../wire.ts";
import { askerOf, cut, readToken, seconds, sizeOf } from "./checks.ts";
import { expressionFault, invalid, schedulerError, tokenTaken } from "./errors.ts";
import { groupMissing } from "./groups.ts";
import type { shapes } from "./shapes.ts";
import { readTarget, type Target } from "./target.ts";

type Input<Name extends keyof typeof shapes> = ValueOf<(typeof shapes)[Name]>;

const placeOf = (
  { scope }: Call,
  { Name, GroupName }: { Name: string; GroupName?: string | undefined },
): Place => ({ ...scope, group: GroupName ?? defaultGroup, name: Name });

const missing = ({ name }: Place) =>
  schedulerError("ResourceNotFoundException", `Schedule ${name} does not exist.`);

/** In ms; 0 where work begins as soon as it is due. */
function windowOf({ Mode, MaximumWindowInMinutes }: Input<"schedule">["FlexibleTimeWindow"]) {
  if (Mode === "FLEXIBLE" && MaximumWindowInMinutes === undefined)
    throw invalid("A flexible time window needs MaximumWindowInMinutes.");
  if (Mode === "OFF" && MaximumWindowInMinutes !== undefined)
    throw invalid("MaximumWindowInMinutes is for a flexible time window only.");
  return (MaximumWindowInMinutes ?? 0) * 60_000;
}

const instant = (of: number | undefined): number | null => (of === undefined ? null : Math.round(of * 1000));

/** crontab's five fields are the room's own. */
function checkExpression(expression: string, zone: string): void {
  if (!/^(cron|rate|at)\(/.test(expression)) throw invalid(`Invalid Schedule Expression ${expression}.`);
  if (/^[+-]/.test(zone)) throw invalid(`Invalid Schedule Expression Timezone ${zone}.`);
}

function checkDates({ StartDate, EndDate }: Input<"schedule">): void {
  for (const date of [StartDate, EndDate])
    if (date !== undefined && !(date >= 0 && date < 253_402_300_800))
      throw invalid("StartDate and EndDate must be times before the year 10000.");
  if (StartDate !== undefined && EndDate !== undefined && EndDate <= StartDate)
    throw invalid("The EndDate you specify must be later than the StartDate.");
}

function arrangementOf(call: Call, input: Input<"schedule">): Arrangement {
  const { ScheduleExpression: expression, ScheduleExpressionTimezone: timeZone = "UTC" } = input;
  const { Target, KmsKeyArn } = input;
  checkExpression(expression, timeZone);
  checkDates(input);
  return {
    place: placeOf(call, input),
    expression,
    timeZone,
    ...readTarget(Target, call.scope),
    startsMs: instant(input.StartDate),
    endsMs: instant(input.EndDate),
    flexibleMs: windowOf(input.FlexibleTimeWindow),
    retriesMax: Target.RetryPolicy?.MaximumRetryAttempts ?? defaultRetry.retriesMax,
    retryWithinMs: (Target.RetryPolicy?.MaximumEventAgeInSeconds ?? defaultRetry.retryWithinMs / 1000) * 1000,
    deadLetter: Target.DeadLetterConfig?.Arn ?? null,
    afterwards: input.ActionAfterCompletion === "DELETE" ? "remove" : "keep",
    enabled: input.State !== "DISABLED",
    description: input.Description ?? null,
    request: JSON.stringify({ Target, KmsKeyArn }),
  };
}

export async function createSchedule({ schedules }: Rooms, call: Call, input: Input<"schedule">) {
  const arrangement = arrangementOf(call, input);
  const { place } = arrangement;
  const asking = schedules.arrangements.create(arrangement, askerOf(call, input));
  const status = await asking.catch(expressionFault(arrangement));
  if (status === "exists")
    throw schedulerError("ConflictException", `Schedule ${place.name} already exists.`);
  if (status === "group missing") throw groupMissing(place.group);
  if (status === "start passed")
    throw invalid("The StartDate you specify cannot be earlier than 5 minutes ago.");
  if (status === "conflict") throw tokenTaken();
  return { ScheduleArn: scheduleArn(place) };
}

export async function updateSchedule({ schedules }: Rooms, call: Call, input: Input<"schedule">) {
  const arrangement = arrangementOf(call, input);
  const { place } = arrangement;
  const asking = schedules.arrangements.change(arrangement, askerOf(call, input));
  const status = await asking.catch(expressionFault(arrangement));
  if (status === "missing") throw missing(place);
  if (status === "declared")
    throw schedulerError(
      "ConflictException",
      `Schedule ${place.name} is declared in code, and changed there.`,
    );
  if (status === "conflict") throw tokenTaken();
  return { ScheduleArn: scheduleArn(place) };
}

export async function deleteSchedule({ schedules }: Rooms, call: Call, input: Input<"deleteSchedule">) {
  const place = placeOf(call, input);
  const status = await schedules.arrangements.remove(place, askerOf(call, input));
  if (status === "missing") throw missing(place);
  if (status === "conflict") throw tokenTaken();
  return {};
}

const retryOf = ({ retriesMax, retryWithinMs }: Arranged) => ({
  MaximumEventAgeInSeconds: retryWithinMs / 1000,
  MaximumRetryAttempts: retriesMax,
});

interface Requested {
  readonly Target: Target;
  readonly KmsKeyArn?: string;
}

/** As it was asked for; one that code declares has a role that nobody has to have. */
function requestedOf({ request, target, place, input }: Arranged): Requested {
  if (request !== null) return JSON.parse(request) as Requested;
  const RoleArn = `arn:aws:iam::${place.account}:role/tuntas`;
  return { Target: { Arn: targetArn(target), RoleArn, Input: input } };
}

const summaryOf = (of: Arranged) => ({
  Arn: scheduleArn(of.place),
  CreationDate: seconds(of.createdAtMs),
  GroupName: of.place.group,
  LastModificationDate: seconds(of.changedAtMs),
  Name: of.place.name,
  State: of.enabled ? "ENABLED" : "DISABLED",
});

export async function getSchedule({ schedules }: Rooms, call: Call, input: Input<"oneSchedule">) {
  const place = placeOf(call, input);
  const of = await schedules.arrangements.find(place);
  if (!of) throw missing(place);
  const { Target, KmsKeyArn } = requestedOf(of);
  return {
    ...summaryOf(of),
    ActionAfterCompletion: of.afterwards === "remove" ? "DELETE" : "NONE",
    ...(of.description === null ? {} : { Description: of.description }),
    ...(of.endsMs === null ? {} : { EndDate: seconds(of.endsMs) }),
    FlexibleTimeWindow:
      of.flexibleMs === 0
        ? { Mode: "OFF" }
        : { Mode: "FLEXIBLE", MaximumWindowInMinutes: of.flexibleMs / 60_000 },
    ...(KmsKeyArn === undefined ? {} : { KmsKeyArn }),
    ScheduleExpression: of.expression,
    ScheduleExpressionTimezone: of.timeZone,
    ...(of.startsMs === null ? {} : { StartDate: seconds(of.startsMs) }),
    Target: { ...Target, RetryPolicy: retryOf(of) },
  };
}

export async function listSchedules({ schedules }: Rooms, call: Call, input: Input<"listSchedules">) {
  const { GroupName: group, NamePrefix: prefix, State } = input;
  if (group !== undefined && !(await schedules.groups.find({ ...call.scope, name: group })))
    throw groupMissing(group);
  const size = sizeOf(input);
  const after = readToken(input.NextToken, 2) as [string, string] | undefined;
  const enabled = State === undefined ? undefined : State === "ENABLED";
  const found = await schedules.arrangements.list(call.scope, {
    group,
    prefix,
    enabled,
    after,
    limit: size + 1,
  });
  const { page, ...more } = cut(found, size, ({ place }) => [place.group, place.name]);
  const Schedules = page.map((of) => ({
    ...summaryOf(of),
    Target: { Arn: requestedOf(of).Target.Arn },
  }));
  return { Schedules, ...more };
}

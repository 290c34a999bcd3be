// Activities and task tokens over the wire: how workers of any language take part.
import { limits, readJson } from "tuntas/asl";
import type { ActivityRecord, AnswerResult } from "tuntas/workflow";
import { isStorable } from "tuntas/queue";
import type { ValueOf } from "../shape.ts";
import type { Call, Rooms } from "../wire.ts";
import { checkArn, checkEncryption, failureOf, checkName, cut, pageOf, seconds } from "./checks.ts";
import { sfnError } from "./errors.ts";
import type { shapes } from "./shapes.ts";
import { tagRecord } from "./tags.ts";

type Input<Name extends keyof typeof shapes> = ValueOf<(typeof shapes)[Name]>;

export async function createActivity({ workflows }: Rooms, call: Call, input: Input<"createActivity">) {
  const name = checkName(input.name);
  const encryption = checkEncryption(input.encryptionConfiguration);
  const activity = await workflows.activities.create(call.scope, name, {
    encryption,
    tags: tagRecord(input.tags),
  });
  return { activityArn: activity.arn, creationDate: seconds(activity.createdAtMs) };
}

async function findActivity({ workflows }: Rooms, given: string): Promise<ActivityRecord> {
  const arn = checkArn(given, "activity");
  const activity = await workflows.activities.find(arn);
  if (!activity) throw sfnError("ActivityDoesNotExist", arn);
  return activity;
}

export async function describeActivity(rooms: Rooms, _call: Call, input: Input<"activity">) {
  const { arn, name, encryption, createdAtMs } = await findActivity(rooms, input.activityArn);
  return {
    activityArn: arn,
    creationDate: seconds(createdAtMs),
    encryptionConfiguration:
      encryption === null ? { type: "AWS_OWNED_KEY" } : (JSON.parse(encryption) as object),
    name,
  };
}

export async function deleteActivity({ workflows }: Rooms, _call: Call, input: Input<"activity">) {
  await workflows.activities.delete(checkArn(input.activityArn, "activity"));
  return {};
}

export async function listActivities({ workflows }: Rooms, call: Call, input: Input<"listed">) {
  const page = pageOf(input);
  const { items, nextToken } = cut(await workflows.activities.list(call.scope, page), page);
  const activities = items.map(({ arn, name, createdAtMs }) => ({
    activityArn: arn,
    creationDate: seconds(createdAtMs),
    name,
  }));
  return { activities, ...(nextToken === undefined ? {} : { nextToken }) };
}

/** As long as AWS keeps the connection open. */
const pollMs = 60_000;

export async function getActivityTask(rooms: Rooms, call: Call, input: Input<"getTask">) {
  const { arn } = await findActivity(rooms, input.activityArn);
  const { workerName } = input;
  const task = await rooms.workflows.activities.task(arn, {
    workerName,
    waitMs: pollMs,
    signal: call.waiting(),
  });
  return task ? { input: task.input, taskToken: task.token } : {};
}

function checkAnswer({ status }: AnswerResult): object {
  if (status === "invalid") throw sfnError("InvalidToken", "Invalid token");
  if (status === "gone") throw sfnError("TaskTimedOut", "Provided task does not exist anymore");
  return {};
}

function parseOutput(text: string) {
  if (Buffer.byteLength(text) > limits.dataBytes || !isStorable(text))
    throw sfnError("InvalidOutput", "Output exceeds the size limit");
  try {
    return readJson(text) as never;
  } catch {
    throw sfnError("InvalidOutput", "Output is not valid JSON");
  }
}

export async function sendTaskSuccess({ workflows }: Rooms, _call: Call, input: Input<"success">) {
  return checkAnswer(await workflows.activities.succeed(input.taskToken, parseOutput(input.output)));
}

export async function sendTaskFailure({ workflows }: Rooms, _call: Call, input: Input<"failure">) {
  return checkAnswer(await workflows.activities.fail(input.taskToken, failureOf(input)));
}

export async function sendTaskHeartbeat({ workflows }: Rooms, _call: Call, input: Input<"heartbeat">) {
  return checkAnswer(await workflows.activities.heartbeat(input.taskToken));
}

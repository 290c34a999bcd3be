// Message move tasks: out of a dead-letter queue, to a queue or back to where each message came from.
// Source: API_StartMessageMoveTask, API_ListMessageMoveTasks, API_CancelMessageMoveTask.
import type { Catalog, MoveTask, QueueRecord, Scope } from "tuntas/queue";
import type { ValueOf } from "../shape.ts";
import type { Call, Rooms } from "../wire.ts";
import { arnOf, findByArn, queueArn } from "./address.ts";
import { bounded, invalid, missing, required, sqsError, within } from "./errors.ts";
import type { shapes } from "./shapes.ts";

type Input<Name extends keyof typeof shapes> = ValueOf<(typeof shapes)[Name]>;

async function findResource(
  catalog: Catalog,
  caller: Scope,
  arn: string | undefined,
  parameter: string,
): Promise<QueueRecord> {
  if (arn === undefined) throw missing(parameter);
  if (!/^arn:(?:[^:]+:){4}[^:]+$/.test(arn)) {
    throw sqsError(
      "invalidParameterValue",
      `You must use this format to specify the ${parameter}: arn:<partition>:<service>:<region>:<account-id>:<resource-id>`,
    );
  }
  const queue = await findByArn(catalog, caller, arn);
  if (queue) return queue;
  throw sqsError(
    "resourceNotFound",
    `The resource that you specified for the ${parameter} parameter doesn't exist.`,
  );
}

const perSecondMax = 500;

/** AWS's form: base64 of JSON with the task's id and its source. */
const encodeHandle = (taskId: string, sourceArn: string): string =>
  Buffer.from(JSON.stringify({ taskId, sourceArn })).toString("base64");

const uuidForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

interface Handle {
  readonly taskId: string;
  readonly sourceArn: string;
}

/** What a task handle stands for; undefined where StartMessageMoveTask did not issue it. */
export function readHandle(handle: string): Handle | undefined {
  try {
    const { taskId, sourceArn } = JSON.parse(Buffer.from(handle, "base64").toString()) as Partial<Handle>;
    if (typeof taskId !== "string" || !uuidForm.test(taskId) || typeof sourceArn !== "string")
      return undefined;
    return { taskId, sourceArn };
  } catch {
    return undefined;
  }
}

function decodeHandle(text: string): Handle {
  const handle = readHandle(text);
  if (handle) return handle;
  throw sqsError("invalidParameterValue", "Value for parameter TaskHandle is invalid.");
}

async function findDestination(
  catalog: Catalog,
  call: Call,
  source: QueueRecord,
  arn: string,
): Promise<QueueRecord> {
  const destination = await findResource(catalog, call.scope, arn, "DestinationArn");
  if (destination.id === source.id) {
    throw sqsError("invalidParameterValue", "Source queue arn and destination queue arn cannot be the same.");
  }
  if (destination.fifo !== source.fifo) {
    throw sqsError(
      "invalidParameterValue",
      "The source queue and destination queue must be of the same queue type.",
    );
  }
  if (destination.account !== source.account) {
    throw invalid(arn, "DestinationArn", "Source and destination must be of the same account.");
  }
  return destination;
}

export async function startMessageMoveTask(
  { queues: { catalog, moves } }: Rooms,
  call: Call,
  input: Input<"startMove">,
) {
  const perSecond = bounded(input.MaxNumberOfMessagesPerSecond, [1, perSecondMax], () =>
    invalid(
      undefined,
      "MaxNumberOfMessagesPerSecond",
      `You must enter a number that's between 1 and ${perSecondMax}.`,
    ),
  );
  const source = await findResource(catalog, call.scope, input.SourceArn, "SourceArn");
  if ((await catalog.sources(source, { after: "", limit: 1 })).length === 0) {
    throw sqsError("invalidParameterValue", "Source queue must be configured as a Dead Letter Queue.");
  }
  const { DestinationArn: arn } = input;
  const destination = arn !== undefined ? await findDestination(catalog, call, source, arn) : undefined;
  const started = await moves.start(source, { destination, perSecond });
  if (started.status === "started") return { TaskHandle: encodeHandle(started.task.id, queueArn(source)) };
  throw sqsError(
    "invalidParameterValue",
    "There is already a task running. Only one active task is allowed for a source queue arn at a given time.",
  );
}

export async function cancelMessageMoveTask(
  { queues: { catalog, moves } }: Rooms,
  call: Call,
  input: Input<"cancelMove">,
) {
  const { taskId, sourceArn } = decodeHandle(required(input.TaskHandle, "TaskHandle"));
  const source = await findResource(catalog, call.scope, sourceArn, "SourceArn");
  const task = await moves.cancel(source, taskId);
  if (!task) throw sqsError("resourceNotFound", "Task does not exist.");
  return { ApproximateNumberOfMessagesMoved: task.moved };
}

function renderTask(source: QueueRecord, task: MoveTask) {
  const sourceArn = queueArn(source);
  return {
    TaskHandle: task.status === "RUNNING" ? encodeHandle(task.id, sourceArn) : undefined,
    Status: task.status,
    SourceArn: sourceArn,
    DestinationArn: task.destinationName === null ? undefined : arnOf(source, task.destinationName),
    MaxNumberOfMessagesPerSecond: task.perSecond ?? undefined,
    ApproximateNumberOfMessagesMoved: task.moved,
    ApproximateNumberOfMessagesToMove: task.toMove,
    FailureReason: task.failureReason ?? undefined,
    StartedTimestamp: Math.trunc(task.startedAtMs),
  };
}

export async function listMessageMoveTasks(
  { queues: { catalog, moves } }: Rooms,
  call: Call,
  input: Input<"listMoves">,
) {
  const limit = within(input.MaxResults, "MaxResults", [1, 10]) ?? 1;
  const source = await findResource(catalog, call.scope, input.SourceArn, "SourceArn");
  const tasks = await moves.list(source, limit);
  return { Results: tasks.map((task) => renderTask(source, task)) };
}

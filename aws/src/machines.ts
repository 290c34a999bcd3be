// AWS Step Functions as the place where declared workflows run: `start(app, { queues: sqs(), workflows: stepFunctions() })`.
import {
  DescribeExecutionCommand,
  SendTaskFailureCommand,
  SendTaskHeartbeatCommand,
  SendTaskSuccessCommand,
  StartExecutionCommand,
  StopExecutionCommand,
  type DescribeExecutionOutput,
  type SFNClient,
} from "@aws-sdk/client-sfn";
import { refuseUnknown, type NamesOf } from "tuntas";
import type {
  Answer,
  AnswerFate,
  MachineService,
  OpenMachines,
  RemoteExecution,
} from "tuntas/workflow/remote";
import { codedMachine, makeMachinesClient, missing, type ClientOptions } from "./client.ts";
import { makeNames, type Names } from "./names.ts";

export interface StepFunctionsOptions extends ClientOptions {
  /**
   * What the ARNs of the machines begin with, `arn:aws:states:REGION:ACCOUNT:stateMachine`. By default TUNTAS_STATE_MACHINES,
   * which `TuntasApp` gives its services; else ListStateMachines is asked, for which a role needs the right.
   */
  readonly machines?: string;
}

const optionNames: NamesOf<StepFunctionsOptions> = { machines: true, endpoint: true, region: true };

const errorLengthMax = 256;
const causeLengthMax = 32_768;

const nameOf = (cause: unknown): string => String((cause as { name?: unknown } | null)?.name);

/** The token answers nothing (any more): too late, stopped, or answered before. */
const isClosed = (cause: unknown): boolean =>
  /^(TaskTimedOut|TaskDoesNotExist|InvalidToken)$/.test(nameOf(cause));

async function toToken(what: string, send: () => Promise<unknown>): Promise<AnswerFate> {
  try {
    await send();
    return "accepted";
  } catch (cause) {
    if (isClosed(cause)) return "closed";
    throw codedMachine(cause, what);
  }
}

const answering = (token: string, answer: Answer) =>
  "output" in answer
    ? new SendTaskSuccessCommand({ taskToken: token, output: JSON.stringify(answer.output) })
    : new SendTaskFailureCommand({
        taskToken: token,
        error: answer.error?.slice(0, errorLengthMax),
        cause: answer.cause?.slice(0, causeLengthMax),
      });

const msOf = (instant: Date | undefined): number | null => instant?.getTime() ?? null;

const recordOf = (described: DescribeExecutionOutput): RemoteExecution => ({
  arn: described.executionArn!,
  name: described.name!,
  machineArn: described.stateMachineArn!,
  versionArn: described.stateMachineVersionArn ?? null,
  aliasArn: described.stateMachineAliasArn ?? null,
  traceHeader: described.traceHeader ?? null,
  mapRunArn: described.mapRunArn ?? null,
  status: described.status!,
  input: described.input ?? "",
  output: described.output ?? null,
  ...(described.error !== undefined && { error: described.error }),
  ...(described.cause !== undefined && { cause: described.cause }),
  startedAtMs: described.startDate!.getTime(),
  stoppedAtMs: msOf(described.stopDate),
  redriveCount: described.redriveCount ?? 0,
  redrivenAtMs: msOf(described.redriveDate),
});

async function find(client: SFNClient, executionArn: string): Promise<RemoteExecution | undefined> {
  try {
    return recordOf(await client.send(new DescribeExecutionCommand({ executionArn })));
  } catch (cause) {
    if (nameOf(cause) === "ExecutionDoesNotExist") return undefined;
    throw codedMachine(cause, `describe ${executionArn}`);
  }
}

async function begin(
  client: SFNClient,
  names: Names,
  [workflow, { name, input, traceHeader }]: Parameters<OpenMachines["start"]>,
): ReturnType<OpenMachines["start"]> {
  try {
    const stateMachineArn = await names.machine(workflow);
    const command = new StartExecutionCommand({ stateMachineArn, name, input, traceHeader });
    const { executionArn, startDate } = await client.send(command);
    return { status: "started", arn: executionArn!, startedAtMs: startDate!.getTime() };
  } catch (cause) {
    if (nameOf(cause) === "ExecutionAlreadyExists")
      return { status: "taken", arn: await names.execution(workflow, name), startedAtMs: 0 };
    if (nameOf(cause) === "StateMachineDoesNotExist") throw missing(workflow);
    throw (cause as { code?: unknown }).code === undefined ? codedMachine(cause, `start ${workflow}`) : cause;
  }
}

async function stop(
  client: SFNClient,
  ...[executionArn, { error, cause: why }]: Parameters<OpenMachines["stop"]>
): Promise<boolean> {
  const running = (await find(client, executionArn))?.status === "RUNNING";
  if (!running) return false;
  try {
    await client.send(
      new StopExecutionCommand({ executionArn, error: error ?? undefined, cause: why ?? undefined }),
    );
    return true;
  } catch (cause) {
    throw codedMachine(cause, `stop ${executionArn}`);
  }
}

/**
 * Declared workflows run as machines of AWS Step Functions, which `TuntasApp` deploys; their tasks come by `queues: sqs()`.
 * Region, credentials and endpoint come by the SDK's usual ways (AWS_REGION, a role, AWS_ENDPOINT_URL_SFN).
 */
export function stepFunctions(given: StepFunctionsOptions = {}): MachineService {
  refuseUnknown("stepFunctions", given, optionNames);
  const { machines = process.env.TUNTAS_STATE_MACHINES, ...options } = given;
  return {
    async open(): Promise<OpenMachines> {
      const client = makeMachinesClient(options);
      const names = makeNames(client, machines);
      return {
        start: (...asked) => begin(client, names, asked),
        find: (arn) => find(client, arn),
        stop: (arn, failure) => stop(client, arn, failure),
        arnOf: names.execution,
        answer: (token, answer) =>
          toToken("answer a task", () => client.send(answering(token, answer) as never)),
        heartbeat: (taskToken) =>
          toToken("send a heartbeat", () => client.send(new SendTaskHeartbeatCommand({ taskToken }))),
        close: async () => client.destroy(),
      };
    },
  };
}

// The inputs of Step Functions' operations; it has the JSON protocol only.
import { boolean, float, integer, list, string, structure } from "../shape.ts";

const page = { maxResults: integer, nextToken: string } as const;
const tags = list("member", structure({ key: string, value: string }));
const encryption = structure({ type: string, kmsKeyId: string, kmsDataKeyReusePeriodSeconds: integer });
const logging = structure({
  level: string,
  includeExecutionData: boolean,
  destinations: list("member", structure({ cloudWatchLogsLogGroup: structure({ logGroupArn: string }) })),
});
const tracing = structure({ enabled: boolean });
const routes = list("member", structure({ stateMachineVersionArn: string, weight: integer }));
const machine = {
  definition: string,
  roleArn: string,
  loggingConfiguration: logging,
  tracingConfiguration: tracing,
  encryptionConfiguration: encryption,
  publish: boolean,
  versionDescription: string,
} as const;

export const shapes = {
  createMachine: structure({ ...machine, name: string, type: string, tags }),
  updateMachine: structure({ ...machine, stateMachineArn: string }),
  machine: structure({ stateMachineArn: string, includedData: string }),
  listed: structure(page),
  listOfMachine: structure({ ...page, stateMachineArn: string }),
  publish: structure({ stateMachineArn: string, revisionId: string, description: string }),
  version: structure({ stateMachineVersionArn: string }),
  createAlias: structure({ name: string, description: string, routingConfiguration: routes }),
  updateAlias: structure({
    stateMachineAliasArn: string,
    description: string,
    routingConfiguration: routes,
  }),
  alias: structure({ stateMachineAliasArn: string }),

  start: structure({ stateMachineArn: string, name: string, input: string, traceHeader: string }),
  startSync: structure({
    stateMachineArn: string,
    name: string,
    input: string,
    traceHeader: string,
    includedData: string,
  }),
  execution: structure({ executionArn: string, includedData: string }),
  stop: structure({ executionArn: string, error: string, cause: string }),
  redrive: structure({ executionArn: string, clientToken: string }),
  listExecutions: structure({
    ...page,
    stateMachineArn: string,
    mapRunArn: string,
    statusFilter: string,
    redriveFilter: string,
  }),
  history: structure({
    ...page,
    executionArn: string,
    reverseOrder: boolean,
    includeExecutionData: boolean,
  }),
  mapRun: structure({ mapRunArn: string }),
  listMapRuns: structure({ ...page, executionArn: string }),
  updateMapRun: structure({
    mapRunArn: string,
    maxConcurrency: integer,
    toleratedFailureCount: integer,
    toleratedFailurePercentage: float,
  }),

  createActivity: structure({ name: string, tags, encryptionConfiguration: encryption }),
  activity: structure({ activityArn: string }),
  getTask: structure({ activityArn: string, workerName: string }),
  success: structure({ taskToken: string, output: string }),
  failure: structure({ taskToken: string, error: string, cause: string }),
  heartbeat: structure({ taskToken: string }),

  resource: structure({ resourceArn: string }),
  tagResource: structure({ resourceArn: string, tags }),
  untagResource: structure({ resourceArn: string, tagKeys: list("member", string) }),

  validate: structure({ definition: string, type: string, severity: string, maxResults: integer }),
  testState: structure({
    definition: string,
    stateName: string,
    roleArn: string,
    input: string,
    inspectionLevel: string,
    revealSecrets: boolean,
    variables: string,
    context: string,
    mock: structure({
      result: string,
      errorOutput: structure({ error: string, cause: string }),
      fieldValidationMode: string,
    }),
    stateConfiguration: structure({
      retrierRetryCount: integer,
      mapIterationFailureCount: integer,
      errorCausedByState: string,
      mapItemReaderData: string,
    }),
  }),
} as const;

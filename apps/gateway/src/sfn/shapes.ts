// The inputs of Step Functions' operations, which has the JSON protocol only. Source: the service's model; where a recording
// shows the values of an enum, in its order.
import { boolean, decimal, list, string, structure, text, whole } from "../shape.ts";

const dataMax = 262_144;

const arn = text({ min: 1, max: 256 });
const longArn = text({ min: 1, max: 2000 });
const name = text({ min: 1, max: 80 });
const aliasName = text({ min: 1, max: 80, pattern: "^(?=.*[a-zA-Z_\\-\\.])[a-zA-Z0-9_\\-\\.]+$" });
const data = text({ max: dataMax, secret: true });
const definition = text({ min: 1, max: 1_048_576, secret: true });
const description = text({ max: 256, secret: true });
const error = text({ max: 256, secret: true });
const cause = text({ max: 32_768, secret: true });
const stateName = text({ min: 1, max: 80, secret: true });
const taskToken = text({ min: 1, max: 2048 });
const traceHeader = text({ max: 256, pattern: "\\p{ASCII}*" });
const includedData = text({ oneOf: ["METADATA_ONLY", "ALL_DATA"] });
const type = text({ oneOf: ["STANDARD", "EXPRESS"] });
const count = whole({ min: 0 });

const maxResults = whole({ min: 0, max: 1000 });
const page = { maxResults, nextToken: text({ min: 1, max: 1024 }) } as const;
const tagKey = text({ min: 1, max: 128 });
const tags = list("Tag", structure({ key: tagKey, value: text({ max: 256 }) }, ["key"]));
const encryption = structure(
  {
    type: text({ oneOf: ["AWS_OWNED_KEY", "CUSTOMER_MANAGED_KMS_KEY"] }),
    kmsKeyId: text({ min: 1, max: 2048 }),
    kmsDataKeyReusePeriodSeconds: whole({ min: 60, max: 900 }),
  },
  ["type"],
);
const logging = structure({
  level: text({ oneOf: ["ALL", "ERROR", "FATAL", "OFF"] }),
  includeExecutionData: boolean,
  destinations: list(
    "LogDestination",
    structure({ cloudWatchLogsLogGroup: structure({ logGroupArn: arn }) }),
  ),
});
const tracing = structure({ enabled: boolean });
const routes = list(
  "RoutingConfigurationListItem",
  structure({ stateMachineVersionArn: arn, weight: whole({ min: 0, max: 100 }) }, [
    "stateMachineVersionArn",
    "weight",
  ]),
  { min: 1, max: 2 },
);
const machine = {
  definition,
  roleArn: arn,
  loggingConfiguration: logging,
  tracingConfiguration: tracing,
  encryptionConfiguration: encryption,
  publish: boolean,
  versionDescription: description,
} as const;

export const shapes = {
  createMachine: structure({ ...machine, name, type, tags }, ["name", "definition", "roleArn"]),
  updateMachine: structure({ ...machine, stateMachineArn: arn }, ["stateMachineArn"]),
  machine: structure({ stateMachineArn: arn, includedData }, ["stateMachineArn"]),
  deleteMachine: structure({ stateMachineArn: arn }, ["stateMachineArn"]),
  listed: structure(page),
  listOfMachine: structure({ ...page, stateMachineArn: arn }, ["stateMachineArn"]),
  publish: structure({ stateMachineArn: arn, revisionId: string, description }, ["stateMachineArn"]),
  version: structure({ stateMachineVersionArn: longArn }, ["stateMachineVersionArn"]),
  createAlias: structure({ name: aliasName, description, routingConfiguration: routes }, [
    "name",
    "routingConfiguration",
  ]),
  updateAlias: structure({ stateMachineAliasArn: arn, description, routingConfiguration: routes }, [
    "stateMachineAliasArn",
  ]),
  alias: structure({ stateMachineAliasArn: arn }, ["stateMachineAliasArn"]),

  start: structure({ stateMachineArn: arn, name, input: data, traceHeader }, ["stateMachineArn"]),
  startSync: structure({ stateMachineArn: arn, name, input: data, traceHeader, includedData }, [
    "stateMachineArn",
  ]),
  execution: structure({ executionArn: arn, includedData }, ["executionArn"]),
  stop: structure({ executionArn: arn, error, cause }, ["executionArn"]),
  redrive: structure({ executionArn: arn, clientToken: text({ min: 1, max: 64, pattern: "[!-~]+" }) }, [
    "executionArn",
  ]),
  listExecutions: structure({
    maxResults,
    nextToken: text({ min: 1, max: 3096 }),
    stateMachineArn: arn,
    mapRunArn: longArn,
    statusFilter: text({
      oneOf: ["SUCCEEDED", "TIMED_OUT", "PENDING_REDRIVE", "ABORTED", "FAILED", "RUNNING"],
    }),
    redriveFilter: text({ oneOf: ["REDRIVEN", "NOT_REDRIVEN"] }),
  }),
  history: structure({ ...page, executionArn: arn, reverseOrder: boolean, includeExecutionData: boolean }, [
    "executionArn",
  ]),
  mapRun: structure({ mapRunArn: longArn }, ["mapRunArn"]),
  listMapRuns: structure({ ...page, executionArn: arn }, ["executionArn"]),
  updateMapRun: structure(
    {
      mapRunArn: longArn,
      maxConcurrency: count,
      toleratedFailureCount: count,
      toleratedFailurePercentage: decimal({ min: 0, max: 100 }),
    },
    ["mapRunArn"],
  ),

  createActivity: structure({ name, tags, encryptionConfiguration: encryption }, ["name"]),
  activity: structure({ activityArn: arn }, ["activityArn"]),
  getTask: structure({ activityArn: arn, workerName: name }, ["activityArn"]),
  success: structure({ taskToken, output: data }, ["taskToken", "output"]),
  failure: structure({ taskToken, error, cause }, ["taskToken"]),
  heartbeat: structure({ taskToken }, ["taskToken"]),

  resource: structure({ resourceArn: arn }, ["resourceArn"]),
  tagResource: structure({ resourceArn: arn, tags }, ["resourceArn", "tags"]),
  untagResource: structure({ resourceArn: arn, tagKeys: list("TagKey", tagKey) }, ["resourceArn", "tagKeys"]),

  validate: structure(
    {
      definition,
      type,
      severity: text({ oneOf: ["ERROR", "WARNING"] }),
      maxResults: whole({ min: 0, max: 100 }),
    },
    ["definition"],
  ),
  testState: structure(
    {
      definition,
      stateName,
      roleArn: arn,
      input: data,
      inspectionLevel: text({ oneOf: ["INFO", "DEBUG", "TRACE"] }),
      revealSecrets: boolean,
      variables: data,
      context: data,
      mock: structure({
        result: data,
        errorOutput: structure({ error, cause }),
        fieldValidationMode: text({ oneOf: ["STRICT", "PRESENT", "NONE"] }),
      }),
      stateConfiguration: structure({
        retrierRetryCount: count,
        mapIterationFailureCount: count,
        errorCausedByState: stateName,
        mapItemReaderData: data,
      }),
    },
    ["definition"],
  ),
} as const;

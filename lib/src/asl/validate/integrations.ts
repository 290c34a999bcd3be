// The optimised integrations that a Task's Resource may name: service, actions, the ways to wait for them, and what they
// cannot do without.
import type { JsonObject } from "../contract.ts";
import { isObject } from "../path/evaluate.ts";

interface Integration {
  readonly actions: readonly string[];
  readonly patterns: readonly string[];
}

const once: readonly string[] = [""];
const job: readonly string[] = ["", ".sync"];
const message: readonly string[] = ["", ".waitForTaskToken"];
const all: readonly string[] = ["", ".sync", ".waitForTaskToken"];
const of = (patterns: readonly string[], ...actions: readonly string[]): Integration => ({
  actions,
  patterns,
});

const integrations: Readonly<Record<string, readonly Integration[]>> = {
  apigateway: [of(message, "invoke")],
  athena: [
    of(job, "startQueryExecution"),
    of(once, "stopQueryExecution", "getQueryExecution", "getQueryResults"),
  ],
  batch: [of(all, "submitJob")],
  bedrock: [of(message, "invokeModel"), of(job, "createModelCustomizationJob")],
  codebuild: [
    of(job, "startBuild", "startBuildBatch"),
    of(
      once,
      "stopBuild",
      "batchDeleteBuilds",
      "batchGetReports",
      "stopBuildBatch",
      "retryBuildBatch",
      "deleteBuildBatch",
    ),
  ],
  databrew: [of(job, "startJobRun")],
  dynamodb: [of(once, "getItem", "putItem", "deleteItem", "updateItem")],
  ecs: [of(all, "runTask")],
  eks: [
    of(
      job,
      "createCluster",
      "deleteCluster",
      "createNodegroup",
      "deleteNodegroup",
      "createFargateProfile",
      "deleteFargateProfile",
      "runJob",
    ),
    of(once, "call"),
  ],
  elasticmapreduce: [
    of(job, "createCluster", "terminateCluster", "addStep"),
    of(
      once,
      "cancelStep",
      "setClusterTerminationProtection",
      "modifyInstanceFleetByName",
      "modifyInstanceGroupByName",
    ),
  ],
  "emr-containers": [of(job, "createVirtualCluster", "deleteVirtualCluster", "startJobRun")],
  "emr-serverless": [
    of(
      job,
      "createApplication",
      "startApplication",
      "stopApplication",
      "deleteApplication",
      "startJobRun",
      "cancelJobRun",
    ),
  ],
  events: [of(message, "putEvents")],
  glue: [of(job, "startJobRun")],
  http: [of(once, "invoke")],
  lambda: [of(message, "invoke")],
  mediaconvert: [of(job, "createJob")],
  sagemaker: [
    of(
      job,
      "createTransformJob",
      "createTrainingJob",
      "createLabelingJob",
      "createHyperParameterTuningJob",
      "createProcessingJob",
    ),
    of(once, "createEndpoint", "createEndpointConfig", "createModel", "updateEndpoint"),
  ],
  sns: [of(message, "publish")],
  sqs: [of(message, "sendMessage")],
  states: [of(all, "startExecution")],
};

/** Whether the resource (`service:action[.pattern]`) is one that Task knows. SDK integrations are taken on trust. */
export function isKnownIntegration(service: string, action: string): boolean {
  if (service.startsWith("aws-sdk:")) return true;
  const [name, ...rest] = action.split(".");
  const waiting = rest.length === 0 ? "" : `.${rest.join(".")}`;
  // Only a nested execution's result comes parsed, too.
  const pattern = service === "states" ? waiting.replace(/:2$/, "") : waiting;
  return (integrations[service] ?? []).some(
    ({ actions, patterns }) => actions.includes(name!) && patterns.includes(pattern),
  );
}

/** Parameters without which AWS takes no Task. */
const required: Readonly<Record<string, readonly string[]>> = {
  "lambda:invoke": ["FunctionName"],
  "sqs:sendMessage": ["QueueUrl", "MessageBody"],
  "sns:publish": ["Message"],
  "dynamodb:putItem": ["TableName", "Item"],
  "dynamodb:getItem": ["TableName", "Key"],
  "states:startExecution": ["StateMachineArn"],
  "events:putEvents": ["Entries"],
  "ecs:runTask": ["TaskDefinition"],
  "glue:startJobRun": ["JobName"],
};

/** The first of them that is not there; whether a value is fitting shows when the Task runs. */
export function missingParameter(
  service: string,
  action: string,
  parameters: JsonObject[string],
): string | undefined {
  if (!isObject(parameters)) return undefined;
  return required[`${service}:${action.split(".")[0]}`]?.find(
    (field) => parameters[field] === undefined && parameters[`${field}.$`] === undefined,
  );
}

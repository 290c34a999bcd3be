// What the examples come to on AWS, compared with templates that a person can read (`TUNTAS_GOLDEN=write` writes them), and what
// each role may not do. CDK checks them as `cdk synth` does, by CloudFormation's own schemas.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Stack } from "aws-cdk-lib";
import { ContainerImage } from "aws-cdk-lib/aws-ecs";
import { CfnQueue } from "aws-cdk-lib/aws-sqs";
import { service } from "tuntas";
import { beforeAll, expect, test } from "vitest";
import { orderWork } from "../../../examples/orders/src/orders.ts";
import { ordersApi, ordersWorker } from "../../../examples/orders/src/services.ts";
import { caseActivation } from "../../../examples/case-activation/src/cases.ts";
import { actionsOf, may, onAnything, rolesOf } from "./rights.fixture.ts";
import {
  casesProps,
  ordersProps,
  synthesise,
  templateOf,
  withCdk,
  type Resource,
  type Template,
} from "./stacks.fixture.ts";

let orders: Template;
let cases: Template;

beforeAll(() => {
  [orders, cases] = synthesise({ Orders: ordersProps, Cases: casesProps }, true) as [Template, Template];
}, 240_000);

const golden = (name: string) => fileURLToPath(new URL(`golden/${name}.json`, import.meta.url));

const idOf = ({ Resources }: Template, type: string, part = ""): string => {
  const found = Object.keys(Resources).filter((id) => Resources[id]!.Type === type && id.includes(part));
  expect(found, `one ${type} with ${part}`).toHaveLength(1);
  return found[0]!;
};

const ofType = ({ Resources }: Template, type: string): Resource[] =>
  Object.values(Resources).filter(({ Type }) => Type === type);

test("D-32: orders and case activation become the templates that are kept", () => {
  for (const [name, template] of Object.entries({ orders, cases })) {
    if (process.env.TUNTAS_GOLDEN === "write")
      writeFileSync(golden(name), `${JSON.stringify(template, null, 2)}\n`);
    expect(template).toEqual(JSON.parse(readFileSync(golden(name), "utf8")));
  }
});

test("what CloudFormation would refuse is refused when the stack is made", () => {
  withCdk(true, (cdk) => {
    new CfnQueue(new Stack(cdk, "Faulty"), "Queue", { visibilityTimeout: 99_999 });
    expect(() => cdk.synth()).toThrow(/alidation/);
  });
});

test("C-01 C-03 C-04: a service that sends may only send, one that works may only receive and end; no role is shared", () => {
  const [api, worker] = ["ordersapiTaskTaskRole", "ordersworkerTaskTaskRole"].map((each) =>
    idOf(orders, "AWS::IAM::Role", each),
  ) as [string, string];
  const queue = idOf(orders, "AWS::SQS::Queue", "orderworkQueue");
  const dead = idOf(orders, "AWS::SQS::Queue", "orderworkDeadLetters");
  const ending = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:ChangeMessageVisibility"];
  expect(may(orders, api, "sqs:SendMessage", queue)).toBe(true);
  for (const action of [...ending, "sqs:PurgeQueue", "sqs:DeleteQueue", "sqs:SetQueueAttributes"])
    expect(may(orders, api, action, queue), `${action} by the API`).toBe(false);
  for (const action of ending) expect(may(orders, worker, action, queue)).toBe(true);
  for (const action of ["sqs:SendMessage", "sqs:PurgeQueue", "sqs:DeleteQueue", "sqs:SetQueueAttributes"])
    expect(may(orders, worker, action, queue), `${action} by the worker`).toBe(false);
  for (const role of [api, worker])
    for (const action of [...ending, "sqs:SendMessage", "sqs:StartMessageMoveTask"])
      expect(may(orders, role, action, dead), `${action} on dead letters`).toBe(false);
  for (const role of [api, worker]) expect(onAnything(orders, role)).toEqual([]);
  const used = ofType(orders, "AWS::ECS::TaskDefinition").flatMap(
    ({ Properties: { TaskRoleArn, ExecutionRoleArn } }) =>
      [TaskRoleArn, ExecutionRoleArn].map((each) => JSON.stringify(each)),
  );
  expect(new Set(used).size).toBe(4);
});

test("C-02 C-09: what starts a service reads its image, log and secret, and no queue; the service itself none of these", () => {
  const queue = idOf(orders, "AWS::SQS::Queue", "orderworkQueue");
  for (const name of ["ordersapi", "ordersworker"]) {
    const starts = idOf(orders, "AWS::IAM::Role", `${name}TaskExecutionRole`);
    const works = idOf(orders, "AWS::IAM::Role", `${name}TaskTaskRole`);
    const log = idOf(orders, "AWS::Logs::LogGroup", `${name}Log`);
    const other = idOf(orders, "AWS::Logs::LogGroup", name === "ordersapi" ? "workerLog" : "apiLog");
    expect(may(orders, starts, "logs:PutLogEvents", log)).toBe(true);
    expect(may(orders, starts, "logs:PutLogEvents", other)).toBe(false);
    expect(onAnything(orders, starts)).toEqual(["ecr:GetAuthorizationToken"]);
    for (const action of ["sqs:SendMessage", "sqs:ReceiveMessage"])
      expect(may(orders, starts, action, queue)).toBe(false);
    for (const action of ["ecr:BatchGetImage", "logs:PutLogEvents", "secretsmanager:GetSecretValue"])
      expect(may(orders, works, action, log)).toBe(false);
  }
});

test("a machine may send to its own task queue, not read it, nor reach another queue", () => {
  const [role] = rolesOf(cases, "CaseActivation") as [string];
  const tasks = idOf(cases, "AWS::SQS::Queue", "TasksQueue");
  const other = idOf(cases, "AWS::SQS::Queue", "duplicatechecksQueue");
  expect(may(cases, role, "sqs:SendMessage", tasks)).toBe(true);
  expect(may(cases, role, "sqs:ReceiveMessage", tasks)).toBe(false);
  expect(may(cases, role, "sqs:SendMessage", other)).toBe(false);
  expect(onAnything(cases, role).filter((action) => !action.startsWith("logs:"))).toEqual([]);
});

test("C-01: a service that works a workflow's tasks may receive them and answer, and nothing else; one that starts it, only that", () => {
  const declared = (name: string) =>
    service(name, {
      kind: "consumer-group",
      run: { module: "./work.js" },
      cpu: { request: 256, limit: 512 },
      memory: { request: 256, limit: 512 },
      stopTimeout: "35s",
      healthCheck: { command: ["true"], interval: "30s", timeout: "5s", retries: 3, startPeriod: "30s" },
      rollout: { minimumHealthyPercent: 100, maximumPercent: 200, circuitBreaker: { rollback: true } },
      scaling: { fixed: 1, because: "it is only looked at" },
    });
  const common = { works: [], sends: [], starts: [] };
  const template = templateOf(
    { caseActivation, tasks: declared("tasks"), door: declared("door") },
    {
      workflows: { [caseActivation.name]: { owner: "case-team", runbook: "runbooks/cases.md" } },
      image: ContainerImage.fromRegistry("work"),
      services: {
        tasks: { ...common, works: [caseActivation] },
        door: { ...common, starts: [caseActivation] },
      },
    },
  );
  const [working] = rolesOf(template, "tasksTaskTaskRole") as [string];
  const [starting] = rolesOf(template, "doorTaskTaskRole") as [string];
  const machine = idOf(template, "AWS::StepFunctions::StateMachine");
  const queue = idOf(template, "AWS::SQS::Queue", "TasksQueue");
  expect(actionsOf(template, working)).toEqual([
    "sqs:ChangeMessageVisibility",
    "sqs:DeleteMessage",
    "sqs:GetQueueAttributes",
    "sqs:GetQueueUrl",
    "sqs:ReceiveMessage",
    "states:SendTaskFailure",
    "states:SendTaskHeartbeat",
    "states:SendTaskSuccess",
  ]);
  expect(actionsOf(template, starting)).toEqual(["states:DescribeExecution", "states:StartExecution"]);
  for (const role of [working, starting]) expect(onAnything(template, role)).toEqual([]);
  expect(may(template, working, "states:SendTaskSuccess", machine)).toBe(true);
  expect(may(template, working, "sqs:ReceiveMessage", queue)).toBe(true);
  expect(may(template, working, "states:SendTaskSuccess", queue)).toBe(false);
  expect(may(template, working, "sqs:ReceiveMessage", machine)).toBe(false);
  const dead = idOf(template, "AWS::SQS::Queue", "TasksDeadLetters");
  expect(may(template, working, "sqs:ReceiveMessage", dead)).toBe(false);
  const environments = ofType(template, "AWS::ECS::TaskDefinition").map(
    ({ Properties }) => Properties.ContainerDefinitions[0].Environment,
  );
  for (const environment of environments)
    expect(environment).toMatchObject([{ Name: "TUNTAS_STATE_MACHINES" }]);
});

test("D-30: every log group has a retention", () => {
  const groups = [orders, cases].flatMap((each) => ofType(each, "AWS::Logs::LogGroup"));
  expect(groups.map(({ Properties }) => Properties.RetentionInDays)).toEqual([30, 30, 30]);
});

test("D-09 D-10 D-11: the container is asked whether it lives, the load balancer whether it is ready; a worker has no port", () => {
  const task = (part: string) =>
    orders.Resources[idOf(orders, "AWS::ECS::TaskDefinition", part)]!.Properties.ContainerDefinitions[0];
  const api = task("ordersapi");
  expect(api.HealthCheck.Command.at(-1)).toContain("http://127.0.0.1:8080/livez");
  expect(api).toMatchObject({ Command: ["node", "api.js"], StopTimeout: 35, Memory: 512, Cpu: 256 });
  expect(api.PortMappings).toEqual([{ ContainerPort: 8080, Protocol: "tcp" }]);
  expect(task("ordersworker").PortMappings ?? []).toEqual([]);
  expect(ofType(orders, "AWS::ElasticLoadBalancingV2::TargetGroup")).toMatchObject([
    { Properties: { HealthCheckPath: "/readyz", TargetType: "ip" } },
  ]);
});

test("D-12 D-13 D-14 C-07 C-11: at least two of the API, rolled back by itself, reached by the load balancer alone", () => {
  const services = ofType(orders, "AWS::ECS::Service");
  for (const { Properties } of services) {
    expect(Properties.DeploymentConfiguration).toMatchObject({
      DeploymentCircuitBreaker: { Enable: true, Rollback: true },
      MinimumHealthyPercent: 100,
      MaximumPercent: 200,
    });
    expect(Properties.NetworkConfiguration.AwsvpcConfiguration.AssignPublicIp).toBe("DISABLED");
    expect(Properties.EnableExecuteCommand).toBeUndefined();
  }
  const targets = ofType(orders, "AWS::ApplicationAutoScaling::ScalableTarget");
  expect(targets.map(({ Properties: { MinCapacity, MaxCapacity } }) => [MinCapacity, MaxCapacity])).toEqual([
    [2, 6],
    [1, 8],
  ]);
  const [steps] = ofType(orders, "AWS::ApplicationAutoScaling::ScalingPolicy").filter(
    ({ Properties: { PolicyType } }) => PolicyType === "StepScaling",
  ) as [Resource];
  expect(steps.Properties.StepScalingPolicyConfiguration).toMatchObject({
    AdjustmentType: "PercentChangeInCapacity",
    MinAdjustmentMagnitude: 1,
    StepAdjustments: [
      { MetricIntervalLowerBound: 0, MetricIntervalUpperBound: 120, ScalingAdjustment: 50 },
      { MetricIntervalLowerBound: 120, ScalingAdjustment: 100 },
    ],
  });
  const aged = ofType(orders, "AWS::CloudWatch::Alarm").filter(
    ({ Properties: { MetricName, Threshold } }) =>
      MetricName === "ApproximateAgeOfOldestMessage" && Threshold === 120,
  );
  expect(aged).toHaveLength(1);
  const inbound = ofType(orders, "AWS::EC2::SecurityGroupIngress").map(({ Properties }) => Properties);
  expect(inbound).toMatchObject([{ FromPort: 8080, ToPort: 8080 }]);
  expect(JSON.stringify(inbound[0]!.SourceSecurityGroupId)).toContain("Balancer");
  expect(JSON.stringify(inbound[0]!.GroupId)).toContain("ordersapiGroup");
});

test("X-03: what a downstream bears is the highest capacity on ECS too", () => {
  const downstream = { name: "bank", safePerSecond: 100, perInstance: 20, slowAbove: "1s" } as const;
  const { run: _, ...options } = ordersWorker.options;
  const paying = service("paying", {
    ...options,
    port: undefined as never,
    run: { module: "./worker.js" },
    healthCheck: { command: ["true"], interval: "30s", timeout: "5s", retries: 3 },
    scaling: {
      min: 1,
      max: 40,
      target: { queue: orderWork, backlogPerInstance: 10, oldestAge: "1m", downstream },
      scaleOutCooldown: "30s",
      scaleInCooldown: "5m",
    },
  });
  const template = templateOf(
    { orderWork, paying },
    {
      image: ContainerImage.fromRegistry("work"),
      services: { paying: { works: [orderWork], sends: [], starts: [] } },
    },
  );
  const [target] = ofType(template, "AWS::ApplicationAutoScaling::ScalableTarget");
  expect(target!.Properties).toMatchObject({ MinCapacity: 1, MaxCapacity: 5 });
});

test("X-08: an API by the requests for each target, with the CPU as guard", () => {
  const target = { cpuPercent: 70, requestsPerInstance: 600 } as const;
  const asked = service("asked", {
    ...ordersApi.options,
    run: { module: "./api.js" },
    scaling: { min: 2, max: 6, target, scaleOutCooldown: "30s", scaleInCooldown: "5m" },
  });
  const template = templateOf(
    { asked },
    { image: ContainerImage.fromRegistry("work"), services: { asked: { works: [], sends: [], starts: [] } } },
  );
  const policies = ofType(template, "AWS::ApplicationAutoScaling::ScalingPolicy").map(
    ({ Properties }) => Properties.TargetTrackingScalingPolicyConfiguration,
  );
  expect(
    policies
      .map(({ PredefinedMetricSpecification: { PredefinedMetricType }, TargetValue }) => [
        PredefinedMetricType,
        TargetValue,
      ])
      .toSorted(),
  ).toEqual([
    ["ALBRequestCountPerTarget", 600],
    ["ECSServiceAverageCPUUtilization", 70],
  ]);
});

test("D-17 D-18: a network of two zones whose private half reaches AWS by endpoints alone", () => {
  expect(ofType(orders, "AWS::EC2::Subnet")).toHaveLength(4);
  expect(ofType(orders, "AWS::EC2::NatGateway")).toEqual([]);
  const names = ofType(orders, "AWS::EC2::VPCEndpoint").map(({ Properties: { ServiceName } }) =>
    JSON.stringify(ServiceName),
  );
  for (const service of ["ecr.api", "ecr.dkr", "s3", "logs", "sqs", "states", "secretsmanager"])
    expect(names.filter((each) => each.includes(`.${service}"`))).toHaveLength(1);
});

test("each dead-letter queue and machine is watched, and says who acts and what they read", () => {
  for (const template of [orders, cases]) {
    // Those of a scaling policy have no name: they wake nobody.
    const described = ofType(template, "AWS::CloudWatch::Alarm")
      .map(({ Properties }) => Properties)
      .filter(({ AlarmName }) => AlarmName !== undefined);
    const names = described.map(({ AlarmName }) => AlarmName);
    for (const { Properties } of ofType(template, "AWS::SQS::Queue").filter(({ Properties: { QueueName } }) =>
      QueueName.endsWith("-dlq"),
    ))
      expect(names).toEqual(expect.arrayContaining([Properties.QueueName, `${Properties.QueueName}-old`]));
    for (const { Properties } of ofType(template, "AWS::StepFunctions::StateMachine"))
      expect(names).toContain(`${Properties.StateMachineName}-failed`);
    for (const { AlarmDescription } of described)
      expect(AlarmDescription).toMatch(/Owner: [\w-]+\. Read first: runbooks\/[\w-]+\.md\.$/);
  }
});

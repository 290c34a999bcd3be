// What a role may do: nothing but what its work needs, on nothing but what it works with.
import { Stack } from "aws-cdk-lib";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { Construct } from "constructs";
import type { DeclaredQueue } from "./queue.ts";
import type { DeclaredWorkflow } from "./workflow.ts";

const allow = (actions: readonly string[], ...resources: readonly string[]): PolicyStatement =>
  new PolicyStatement({ actions: [...actions], resources: [...resources] });

/** Finding a queue and comparing it with its declaration, at the start; counting what is in it. */
const lookUp = ["sqs:GetQueueAttributes", "sqs:GetQueueUrl"];

export const toSend = ({ arn, deadLetterArn }: DeclaredQueue): PolicyStatement[] => [
  allow(["sqs:SendMessage", ...lookUp], arn),
  allow(lookUp, deadLetterArn),
];

export const toWork = ({ arn, deadLetterArn }: DeclaredQueue): PolicyStatement[] => [
  allow(["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:ChangeMessageVisibility", ...lookUp], arn),
  allow(lookUp, deadLetterArn),
];

export const toAnswer = ({ arn }: DeclaredWorkflow): PolicyStatement =>
  allow(["states:SendTaskSuccess", "states:SendTaskFailure", "states:SendTaskHeartbeat"], arn);

export const toStartOnly = (arn: string): PolicyStatement => allow(["states:StartExecution"], arn);

export const toStart = ({ arn, executionArns }: DeclaredWorkflow): PolicyStatement[] => [
  toStartOnly(arn),
  allow(["states:DescribeExecution"], executionArns),
];

export const toSendOnly = (arn: string): PolicyStatement => allow(["sqs:SendMessage"], arn);
export const toInvoke = (arn: string): PolicyStatement => allow(["lambda:InvokeFunction"], arn, `${arn}:*`);

/** What Step Functions asks for to write a machine's log; AWS names no resource for these. */
export const toLogExecutions = (): PolicyStatement =>
  allow(
    [
      "logs:CreateLogDelivery",
      "logs:GetLogDelivery",
      "logs:UpdateLogDelivery",
      "logs:DeleteLogDelivery",
      "logs:ListLogDeliveries",
      "logs:PutResourcePolicy",
      "logs:DescribeResourcePolicies",
      "logs:DescribeLogGroups",
    ],
    "*",
  );

/** A role for one service of AWS, which takes it for this account only. */
export function roleFor(
  scope: Construct,
  service: "states" | "scheduler",
  statements: readonly PolicyStatement[],
): Role {
  const assumedBy = new ServicePrincipal(`${service}.amazonaws.com`, {
    conditions: { StringEquals: { "aws:SourceAccount": Stack.of(scope).account } },
  });
  const work = new PolicyDocument({ statements: [...statements] });
  return new Role(scope, "Role", { assumedBy, inlinePolicies: { work } });
}

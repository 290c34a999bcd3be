// AddPermission and RemovePermission: statements of the queue's policy. The policy is kept and shown, not enforced.
import type { QueueRecord } from "tuntas/queue";
import type { ValueOf } from "../shape.ts";
import type { Call, Rooms } from "../wire.ts";
import { findQueue, queueArn } from "./address.ts";
import { invalid, missing, required, sqsError } from "./errors.ts";
import type { shapes } from "./shapes.ts";

type Input<Name extends keyof typeof shapes> = ValueOf<(typeof shapes)[Name]>;

interface Policy {
  readonly [member: string]: unknown;
  readonly Statement?: unknown;
}

const actionsMax = 7;
const principalsMax = 50;
const statementsMax = 20;
const grantable = new Set([
  "*",
  "ChangeMessageVisibility",
  "DeleteMessage",
  "GetQueueAttributes",
  "GetQueueUrl",
  "ListDeadLetterSourceQueues",
  "PurgeQueue",
  "ReceiveMessage",
  "SendMessage",
]);
const ownersOnly = new Set([
  "AddPermission",
  "CancelMessageMoveTask",
  "CreateQueue",
  "DeleteQueue",
  "ListMessageMoveTasks",
  "ListQueueTags",
  "ListQueues",
  "RemovePermission",
  "SetQueueAttributes",
  "StartMessageMoveTask",
  "TagQueue",
  "UntagQueue",
]);

/** Source: Developer Guide, quotas-policies. */
function checkCount(count: number, what: string, max: number): void {
  if (count > max) throw sqsError("overLimit", `${count} ${what} were found, maximum allowed is ${max}.`);
}

function checkActions(actions: readonly string[]): void {
  if (actions.length === 0) throw missing("Actions");
  checkCount(actions.length, "Actions", actionsMax);
  for (const action of actions) {
    if (ownersOnly.has(action)) {
      throw invalid(`SQS:${action}`, "ActionName", "Only the queue owner is allowed to invoke this action.");
    }
    if (!grantable.has(action)) {
      throw invalid(
        `SQS:${action}`,
        "ActionName",
        "Please refer to the appropriate WSDL for a list of valid actions.",
      );
    }
  }
}

function checkAccounts(accounts: readonly string[]): void {
  checkCount(accounts.length, "Principals", principalsMax);
  if (accounts.length > 0 && accounts.every((account) => /^\d{12}$/.test(account))) return;
  throw invalid(`[${accounts.join(", ")}]`, "PrincipalId", "Unable to verify.");
}

function checkLabel(label: string): void {
  if (/^[A-Za-z0-9_-]{1,80}$/.test(label)) return;
  throw invalid(
    label,
    "Label",
    "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length",
  );
}

const oneOrMany = (values: readonly string[]): string | readonly string[] =>
  values.length === 1 ? values[0]! : values;

const readPolicy = (queue: QueueRecord): Policy =>
  queue.policy === null
    ? { Version: "2008-10-17", Id: `${queueArn(queue)}/SQSDefaultPolicy` }
    : (JSON.parse(queue.policy) as Policy);

/** What stands in a policy that a client has set need not be statements. */
const statementsOf = ({ Statement }: Policy): readonly unknown[] =>
  Statement === undefined ? [] : [Statement].flat();

const isLabelled = (statement: unknown, label: string): boolean =>
  typeof statement === "object" && statement !== null && (statement as { Sid?: unknown }).Sid === label;

const hasLabel = (policy: Policy, label: string): boolean =>
  statementsOf(policy).some((statement) => isLabelled(statement, label));

export async function addPermission(
  { queues: { catalog } }: Rooms,
  call: Call,
  input: Input<"addPermission">,
) {
  const queue = await findQueue(catalog, call, input.QueueUrl);
  const label = required(input.Label, "Label");
  const { Actions: actions = [], AWSAccountIds: accounts = [] } = input;
  checkLabel(label);
  checkActions(actions);
  checkAccounts(accounts);
  const statement = {
    Sid: label,
    Effect: "Allow",
    Principal: { AWS: oneOrMany(accounts.map((account) => `arn:aws:iam::${account}:root`)) },
    Action: oneOrMany(actions.map((action) => `SQS:${action}`)),
    Resource: queueArn(queue),
  };
  await catalog.amend(queue, (current) => {
    const policy = readPolicy(current);
    if (hasLabel(policy, label)) throw invalid(label, "Label", "Already exists.");
    const statements = [...statementsOf(policy), statement];
    checkCount(statements.length, "Statements", statementsMax);
    return { policy: JSON.stringify({ ...policy, Statement: statements }) };
  });
}

export async function removePermission(
  { queues: { catalog } }: Rooms,
  call: Call,
  input: Input<"removePermission">,
) {
  const queue = await findQueue(catalog, call, input.QueueUrl);
  const label = required(input.Label, "Label");
  await catalog.amend(queue, (current) => {
    const policy = readPolicy(current);
    if (!hasLabel(policy, label)) throw invalid(label, "Label", "can't find label.");
    const left = statementsOf(policy).filter((statement) => !isLabelled(statement, label));
    return { policy: left.length === 0 ? null : JSON.stringify({ ...policy, Statement: left }) };
  });
}

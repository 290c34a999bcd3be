// What a request names, for who may do what: a schedule by its group and name, a group, and the queues and machines that a
// schedule is to reach, so that whoever may make schedules reaches nothing by them that is not his.
import { defaultGroup } from "tuntas/schedule";
import { parseArn, readUrl } from "../sqs/address.ts";
import { parseMachineArn } from "tuntas/workflow";
import type { Operation, Subject } from "../wire.ts";
import { readGroupArn } from "./groups.ts";
import { shapes } from "./shapes.ts";
import type { Target } from "./target.ts";

/** What cannot be read names nothing that is there; the operation says so in its own words. */
function ofArn(arn: string): Subject {
  const { scope, name } = parseArn(arn) ?? parseMachineArn(arn) ?? {};
  return scope === undefined ? { name: arn } : { name: name!, account: scope.account };
}

/** Of a universal target: what its Input names. */
function ofInput(input: string | undefined): Subject | undefined {
  try {
    const { QueueUrl, StateMachineArn } = JSON.parse(input ?? "") as Readonly<Record<string, unknown>>;
    if (typeof StateMachineArn === "string") return ofArn(StateMachineArn);
    return typeof QueueUrl === "string" ? readUrl(QueueUrl) : undefined;
  } catch {
    return undefined;
  }
}

const isUniversal = (arn: string): boolean => arn.includes(":aws-sdk:");

function ofTarget({ Arn = "", Input, DeadLetterConfig }: Target): Subject[] {
  const reached = isUniversal(Arn) ? (ofInput(Input) ?? { name: Arn }) : ofArn(Arn);
  return [reached, ...(DeadLetterConfig?.Arn === undefined ? [] : [ofArn(DeadLetterConfig.Arn)])];
}

export function subjectsOf(
  { input: shape }: Pick<Operation, "input">,
  input: Readonly<Record<string, unknown>>,
): readonly Subject[] {
  const {
    Name,
    GroupName = defaultGroup,
    ResourceArn,
    Target: target,
  } = input as Readonly<Record<string, string | undefined>> & { readonly Target?: Target };
  if (ResourceArn !== undefined) return [readGroupArn(ResourceArn) ?? { name: ResourceArn }];
  if (Name === undefined) return [];
  const isOfGroup = shape === shapes.createGroup || shape === shapes.oneGroup || shape === shapes.deleteGroup;
  return [{ name: isOfGroup ? Name : `${GroupName}/${Name}` }, ...(target ? ofTarget(target) : [])];
}

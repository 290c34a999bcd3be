// Where a schedule's name is unique: over the wire in a group of an account and region, here everywhere. What is declared
// is in the default group of the default account and goes by its bare name; others have the way there before their name.
import type { TargetName } from "../engine/target.ts";
import type { Scope } from "../queue/contract.ts";
import { defaultScope } from "../queue/contract.ts";
import type { Place } from "./contract.ts";

export const defaultGroup = "default";

const isDefault = ({ account, region }: Scope): boolean =>
  account === defaultScope.account && region === defaultScope.region;

/** `nightly`, `reports/nightly`, `111122223333/eu-west-1/reports/nightly`. */
export function nameOf({ account, region, group, name }: Place): string {
  if (!isDefault({ account, region })) return [account, region, group, name].join("/");
  return group === defaultGroup ? name : `${group}/${name}`;
}

export const groupArn = ({ account, region }: Scope, group: string): string =>
  `arn:aws:scheduler:${region}:${account}:schedule-group/${group}`;

export const scheduleArn = ({ account, region, group, name }: Place): string =>
  `arn:aws:scheduler:${region}:${account}:schedule/${group}/${name}`;

const { account: ownAccount, region: ownRegion } = defaultScope;

/** A queue and a machine of the default account go by their names; targets that AWS does not know have a word of ours. */
export function targetArn({ kind, name }: TargetName): string {
  if (name.startsWith("arn:")) return name;
  if (kind === "queue") return `arn:aws:sqs:${ownRegion}:${ownAccount}:${name}`;
  if (kind === "workflow") return `arn:aws:states:${ownRegion}:${ownAccount}:stateMachine:${name}`;
  return `arn:aws:scheduler:::tuntas:${kind}:${name}`;
}

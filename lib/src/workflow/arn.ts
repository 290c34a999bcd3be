// The ARNs of the room: built in one place, taken apart in one place.
import { isStorable } from "../core/text.ts";
import type { Scope } from "../queue/contract.ts";

const prefix = ({ account, region }: Scope): string => `arn:aws:states:${region}:${account}`;

export const machineArn = (scope: Scope, name: string): string => `${prefix(scope)}:stateMachine:${name}`;
export const activityArn = (scope: Scope, name: string): string => `${prefix(scope)}:activity:${name}`;
export const executionArn = (scope: Scope, machine: string, name: string): string =>
  `${prefix(scope)}:execution:${machine}:${name}`;
export const expressArn = (scope: Scope, machine: string, name: string, id: string): string =>
  `${prefix(scope)}:express:${machine}:${name}:${id}`;
export const versionArn = (machine: string, version: number): string => `${machine}:${version}`;
export const aliasArn = (machine: string, alias: string): string => `${machine}:${alias}`;

export interface Arn {
  readonly scope: Scope;
  /** `stateMachine`, `execution`, `express`, `activity`, `mapRun`. */
  readonly kind: string;
  readonly parts: readonly string[];
}

const form = /^arn:aws[a-z-]*:states:([a-z0-9-]+):(\d{12}):([A-Za-z]+):(.+)$/;

/** Undefined for what is no ARN of the service. */
export function parseArn(text: string): Arn | undefined {
  const [, region, account, kind, rest] = form.exec(text) ?? [];
  if (rest === undefined || !isStorable(text)) return undefined;
  return { scope: { account: account!, region: region! }, kind: kind!, parts: rest.split(":") };
}

export interface MachineAddress {
  readonly scope: Scope;
  readonly name: string;
  /** A version's number or an alias's name. */
  readonly qualifier: string | undefined;
}

export function parseMachineArn(text: string): MachineAddress | undefined {
  const arn = parseArn(text);
  if (arn?.kind !== "stateMachine" || arn.parts.length > 2) return undefined;
  return { scope: arn.scope, name: arn.parts[0]!, qualifier: arn.parts[1] };
}

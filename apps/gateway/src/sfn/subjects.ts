// The machines and activities that a request names, for who may do what.
import type { Operation, Subject } from "../wire.ts";

// The machine of an execution, a version, an alias or a Map Run is the machine.
const form = /^arn:[^:]*:states:[^:]*:([^:]*):(?:stateMachine|execution|express|activity|mapRun):([^:/]+)/;

/** What cannot be read names nothing that is there; the operation says so in its own words. */
function ofArn(arn: string): Subject {
  const [, account, name] = form.exec(arn) ?? [];
  return name === undefined ? { name: arn } : { name, account };
}

type Route = { readonly stateMachineVersionArn?: string };

export function subjectsOf(
  _operation: Pick<Operation, "input">,
  input: Readonly<Record<string, unknown>>,
): readonly Subject[] {
  const members = Object.keys(input).filter((member) => member.endsWith("Arn") && member !== "roleArn");
  const routes = (input.routingConfiguration ?? []) as readonly Route[];
  const arns = [
    ...members.map((member) => input[member] as string),
    ...routes.flatMap((route) => route.stateMachineVersionArn ?? []),
  ];
  if (arns.length > 0) return arns.map(ofArn);
  return typeof input.name === "string" ? [{ name: input.name }] : [];
}

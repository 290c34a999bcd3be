// Aliases: names that route the starts of executions to one or two versions.
import { parseMachineArn, type AliasRecord, type MachineRecord, type Route } from "tuntas/workflow";
import type { ValueOf } from "../shape.ts";
import type { Call, Rooms } from "../wire.ts";
import { checkMachineArn, cut, pageOf, seconds } from "./checks.ts";
import { sfnError } from "./errors.ts";
import { findMachine } from "./machines.ts";
import type { shapes } from "./shapes.ts";

type Input<Name extends keyof typeof shapes> = ValueOf<(typeof shapes)[Name]>;

type Routing = Input<"createAlias">["routingConfiguration"];

const refuse = (message: string) => sfnError("ValidationException", message);

function checkRoutes(routes: Routing): readonly Route[] {
  const arns = routes.map((route) => route.stateMachineVersionArn);
  if (arns.some((arn) => !/^\d+$/.test(parseMachineArn(arn)?.qualifier ?? "")))
    throw refuse(
      `Routing configuration must contain state machine version ARNs. Received: [${arns.join(", ")}]`,
    );
  if (new Set(arns).size < arns.length)
    throw refuse(
      `Routing configuration must contain distinct state machine version ARNs. Received: [${arns.join(", ")}]`,
    );
  const weights = routes.map((route) => route.weight);
  if (weights.reduce((sum, weight) => sum + weight, 0) !== 100)
    throw refuse(`Sum of routing configuration weights must equal 100. Received: [${weights.join(", ")}]`);
  return routes;
}

const notFound = () => sfnError("ResourceNotFound", "Request references a resource that does not exist.");

/** The versions must exist, and be of one machine. */
async function checkVersions(rooms: Rooms, routes: readonly Route[]): Promise<MachineRecord> {
  const machine = await findMachine(rooms, routes[0]!.stateMachineVersionArn);
  for (const { stateMachineVersionArn } of routes) {
    const { name, qualifier } = parseMachineArn(stateMachineVersionArn)!;
    if (name !== machine.name)
      throw refuse("Routing configuration must refer to versions of one state machine.");
    if (!(await rooms.workflows.machines.version(machine, Number(qualifier)))) throw notFound();
  }
  return machine;
}

const isSame = (alias: AliasRecord, description: string | undefined, routes: readonly Route[]): boolean =>
  (alias.description ?? undefined) === description && JSON.stringify(alias.routes) === JSON.stringify(routes);

export async function createStateMachineAlias(rooms: Rooms, _call: Call, input: Input<"createAlias">) {
  const { name } = input;
  const routes = checkRoutes(input.routingConfiguration);
  const machine = await checkVersions(rooms, routes);
  const { machines } = rooms.workflows;
  const { description } = input;
  const made = await machines.createAlias(machine, name, { description, routes });
  const alias = made ?? (await machines.alias(machine, name))!;
  if (!made && !isSame(alias, description, routes))
    throw sfnError(
      "ConflictException",
      "Failed to create alias because an alias with the same name and a different routing configuration already exists.",
    );
  return { creationDate: seconds(alias.createdAtMs), stateMachineAliasArn: alias.arn };
}

async function findAlias({ workflows }: Rooms, arn: string) {
  const { scope, name, qualifier } = checkMachineArn(arn);
  const machine = await workflows.machines.find(scope, name);
  const alias =
    machine && qualifier !== undefined ? await workflows.machines.alias(machine, qualifier) : undefined;
  return machine && alias && { machine, alias };
}

export async function describeStateMachineAlias(rooms: Rooms, _call: Call, input: Input<"alias">) {
  const found = await findAlias(rooms, input.stateMachineAliasArn);
  if (!found) throw notFound();
  const { arn, name, description, routes, createdAtMs, updatedAtMs } = found.alias;
  return {
    creationDate: seconds(createdAtMs),
    ...(description === null ? {} : { description }),
    name,
    routingConfiguration: routes,
    stateMachineAliasArn: arn,
    updateDate: seconds(updatedAtMs),
  };
}

export async function updateStateMachineAlias(rooms: Rooms, _call: Call, input: Input<"updateAlias">) {
  const found = await findAlias(rooms, input.stateMachineAliasArn);
  if (!found) throw notFound();
  const { description, routingConfiguration } = input;
  if (description === undefined && routingConfiguration === undefined)
    throw sfnError(
      "MissingRequiredParameter",
      "Either the description or the routing configuration must be specified",
    );
  const routes = routingConfiguration && checkRoutes(routingConfiguration);
  if (routes) await checkVersions(rooms, routes);
  const { machine, alias } = found;
  const updated = await rooms.workflows.machines.updateAlias(machine, alias.name, { description, routes });
  if (!updated) throw notFound();
  return { updateDate: seconds(updated.updatedAtMs) };
}

export async function deleteStateMachineAlias(rooms: Rooms, _call: Call, input: Input<"alias">) {
  const found = await findAlias(rooms, input.stateMachineAliasArn);
  if (found) await rooms.workflows.machines.deleteAlias(found.machine, found.alias.name);
  return {};
}

export async function listStateMachineAliases(rooms: Rooms, _call: Call, input: Input<"listOfMachine">) {
  const page = pageOf(input);
  const { qualifier } = checkMachineArn(input.stateMachineArn);
  const machine = await findMachine(rooms, input.stateMachineArn);
  // Of a version's ARN: the aliases that route to it.
  const routesTo = ({ routes }: AliasRecord) =>
    qualifier === undefined || routes.some((route) => route.stateMachineVersionArn === input.stateMachineArn);
  const all = (await rooms.workflows.machines.aliases(machine, page)).filter(routesTo);
  const { items, nextToken } = cut(all, page);
  return {
    stateMachineAliases: items.map(({ arn, createdAtMs }) => ({
      creationDate: seconds(createdAtMs),
      stateMachineAliasArn: arn,
    })),
    ...(nextToken === undefined ? {} : { nextToken }),
  };
}

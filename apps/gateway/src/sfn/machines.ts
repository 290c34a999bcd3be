// State machines: created (idempotent), described, updated, deleted, and their versions.
import { invalidDefinitionMessage, validateDefinition } from "tuntas/asl";
import {
  parseMachineArn,
  type ExecutionRecord,
  type MachineRecord,
  type MachineSettings,
  type VersionRecord,
} from "tuntas/workflow";
import { isStorable } from "tuntas/queue";
import type { ValueOf } from "../shape.ts";
import type { Call, Rooms } from "../wire.ts";
import {
  checkArn,
  checkEncryption,
  checkMachineArn,
  checkName,
  checkRoleArn,
  cut,
  pageOf,
  seconds,
  wantsData,
} from "./checks.ts";
import { sfnError } from "./errors.ts";
import type { shapes } from "./shapes.ts";
import { tagRecord } from "./tags.ts";
import { variableReferences } from "./references.ts";

type Input<Name extends keyof typeof shapes> = ValueOf<(typeof shapes)[Name]>;

const noLogging = { level: "OFF", includeExecutionData: false };
const noTracing = { enabled: false };
const ownKey = { type: "AWS_OWNED_KEY" };

export const machineMissing = (arn: string) => sfnError("StateMachineDoesNotExist", arn);

/** The machine itself, whichever version or alias the ARN may add. */
export async function findMachine({ workflows }: Rooms, arn: string): Promise<MachineRecord> {
  const { scope, name } = checkMachineArn(arn);
  const machine = await workflows.machines.find(scope, name);
  if (!machine) throw machineMissing(arn);
  return machine;
}

export const typeOf = ({ type }: { readonly type?: string | undefined }): "STANDARD" | "EXPRESS" =>
  type === "EXPRESS" ? type : "STANDARD";

function checkDefinition(definition: string, type: "STANDARD" | "EXPRESS"): string {
  const diagnostics = validateDefinition(definition, type).filter(({ severity }) => severity === "ERROR");
  if (diagnostics.length > 0) throw sfnError("InvalidDefinition", invalidDefinitionMessage(diagnostics));
  if (!isStorable(definition))
    throw sfnError("InvalidDefinition", "The definition holds characters that no text can hold");
  return definition;
}

type Logging = Input<"createMachine">["loggingConfiguration"];

const badLogging = (why: string) =>
  sfnError("InvalidLoggingConfiguration", `Invalid Logging Configuration: ${why}`);

/** With the `:*` that stands for the group's streams. */
const logGroupForm = /^arn:[^:\s]+:logs:[^:\s]+:[^:\s]+:log-group:[^:\s]+(:\*)?$/;

function checkLogGroup(arn: string | undefined): void {
  const form = logGroupForm.exec(arn ?? "");
  if (!form) throw badLogging("Log Destination not found.");
  if (form[1] === undefined) throw badLogging("Log Group ARN must be provided with '*' qualifier.");
}

/** Logs go nowhere here, but what AWS refuses is refused: a level without exactly one place, and a place that cannot be. */
function checkLogging(logging: Logging): string | undefined {
  if (logging === undefined) return undefined;
  const { level = "OFF", destinations = [] } = logging;
  if (level !== "OFF" && destinations.length !== 1)
    throw badLogging("Must specify exactly one Log Destination.");
  for (const { cloudWatchLogsLogGroup } of destinations) checkLogGroup(cloudWatchLogsLogGroup?.logGroupArn);
  return JSON.stringify({ ...noLogging, ...logging });
}

const textOf = (value: object | undefined): string | undefined =>
  value === undefined ? undefined : JSON.stringify(value);

function checkVersionDescription(publish: boolean | undefined, description: string | undefined): void {
  if (description !== undefined && publish !== true)
    throw sfnError("ValidationException", "Version description can only be set when publish is true");
}

/** Whether a create asks for what is there: then it is answered as the first one was. */
function isSame(machine: MachineRecord, settings: MachineSettings, type: string): boolean {
  return (
    machine.definition === settings.definition &&
    machine.type === type &&
    (machine.logging ?? JSON.stringify(noLogging)) === (settings.logging ?? JSON.stringify(noLogging)) &&
    (machine.tracing ?? JSON.stringify(noTracing)) === (settings.tracing ?? JSON.stringify(noTracing))
  );
}

export async function createStateMachine({ workflows }: Rooms, call: Call, input: Input<"createMachine">) {
  const name = checkName(input.name);
  const type = typeOf(input);
  checkVersionDescription(input.publish, input.versionDescription);
  const settings: MachineSettings = {
    definition: checkDefinition(input.definition, type),
    roleArn: checkRoleArn(input.roleArn),
    logging: checkLogging(input.loggingConfiguration),
    tracing: textOf(input.tracingConfiguration),
    encryption: checkEncryption(input.encryptionConfiguration),
  };
  const { publish = false, versionDescription } = input;
  const tags = tagRecord(input.tags);
  const made = await workflows.machines.create(call.scope, {
    ...settings,
    name,
    type,
    tags,
    publish,
    versionDescription,
  });
  const { machine } = made;
  if (made.status === "exists" && !isSame(machine, settings, type))
    throw sfnError("StateMachineAlreadyExists", machine.arn);
  const version =
    made.status === "created"
      ? made.version
      : publish
        ? await workflows.machines.publish(machine, versionDescription)
        : undefined;
  return {
    creationDate: seconds(machine.createdAtMs),
    stateMachineArn: machine.arn,
    ...(version && { stateMachineVersionArn: version.arn }),
  };
}

const parsed = (text: string | null, absent: object): object =>
  text === null ? absent : (JSON.parse(text) as object);

/** Without data an empty object stands for the definition, as on AWS. */
const settingsOf = (machine: MachineRecord, isWanted: boolean) => ({
  definition: isWanted ? machine.definition : "{}",
  encryptionConfiguration: parsed(machine.encryption, ownKey),
  loggingConfiguration: parsed(machine.logging, noLogging),
  name: machine.name,
  ...(machine.revisionId === null ? {} : { revisionId: machine.revisionId }),
  roleArn: machine.roleArn,
  tracingConfiguration: parsed(machine.tracing, noTracing),
  ...(isWanted ? variableReferences(machine.definition) : {}),
});

export async function describeStateMachine({ workflows }: Rooms, _call: Call, input: Input<"machine">) {
  const { stateMachineArn: arn } = input;
  const { scope, name, qualifier } = checkMachineArn(arn);
  const target = await workflows.machines.resolve(arn);
  if (!target) throw machineMissing(arn);
  const version =
    qualifier !== undefined && target.versionArn !== null
      ? await workflows.machines.version(
          (await workflows.machines.find(scope, name))!,
          numberOf(target.versionArn),
        )
      : undefined;
  return {
    ...settingsOf(target.machine, wantsData(input)),
    creationDate: seconds(version?.createdAtMs ?? target.machine.createdAtMs),
    ...(version?.description ? { description: version.description } : {}),
    stateMachineArn: version?.arn ?? target.machine.arn,
    status: "ACTIVE",
    type: target.machine.type,
  };
}

/** What names the Map whose child it is: `stateMachine:Machine/Label`. */
const labelOf = ({ machineArn }: ExecutionRecord): string => machineArn.split("/").at(-1)!;

export async function describeStateMachineForExecution(
  { workflows }: Rooms,
  _call: Call,
  input: Input<"execution">,
) {
  const { executionArn: arn } = input;
  const execution = await workflows.executions.find(checkArn(arn, "execution"));
  const machine = execution && (await workflows.machines.atRevision(execution.revision));
  if (!machine) throw sfnError("ExecutionDoesNotExist", arn);
  return {
    ...settingsOf(machine, wantsData(input)),
    ...(execution.mapRunArn === null ? {} : { label: labelOf(execution), mapRunArn: execution.mapRunArn }),
    stateMachineArn: machine.arn,
    updateDate: seconds(machine.updatedAtMs),
  };
}

export async function listStateMachines({ workflows }: Rooms, call: Call, input: Input<"listed">) {
  const page = pageOf(input);
  const { items, nextToken } = cut(await workflows.machines.list(call.scope, page), page);
  const stateMachines = items.map((machine) => ({
    creationDate: seconds(machine.createdAtMs),
    name: machine.name,
    stateMachineArn: machine.arn,
    type: machine.type,
  }));
  return { stateMachines, ...(nextToken === undefined ? {} : { nextToken }) };
}

function changedSettings(machine: MachineRecord, input: Input<"updateMachine">): Partial<MachineSettings> {
  const logging = checkLogging(input.loggingConfiguration);
  const tracing = textOf(input.tracingConfiguration);
  const encryption = checkEncryption(input.encryptionConfiguration);
  return {
    ...(input.definition === undefined
      ? {}
      : { definition: checkDefinition(input.definition, machine.type) }),
    ...(input.roleArn === undefined ? {} : { roleArn: checkRoleArn(input.roleArn) }),
    ...(logging === undefined ? {} : { logging }),
    ...(tracing === undefined ? {} : { tracing }),
    ...(encryption === undefined ? {} : { encryption }),
  };
}

export async function updateStateMachine(rooms: Rooms, _call: Call, input: Input<"updateMachine">) {
  const { qualifier } = checkMachineArn(input.stateMachineArn);
  if (qualifier !== undefined) throw machineMissing(input.stateMachineArn);
  const machine = await findMachine(rooms, input.stateMachineArn);
  const settings = changedSettings(machine, input);
  if (Object.keys(settings).length === 0)
    throw sfnError(
      "MissingRequiredParameter",
      "Either the definition, the role ARN, the LoggingConfiguration, or the TracingConfiguration must be specified",
    );
  checkVersionDescription(input.publish, input.versionDescription);
  const { publish = false, versionDescription } = input;
  const updated = await rooms.workflows.machines.update(machine, { settings, publish, versionDescription });
  return {
    ...(updated.machine.revisionId === null ? {} : { revisionId: updated.machine.revisionId }),
    ...(updated.version && { stateMachineVersionArn: updated.version.arn }),
    updateDate: seconds(updated.machine.updatedAtMs),
  };
}

/** A version's or an alias's ARN must not take the machine away, and all its versions with it. */
export async function deleteStateMachine({ workflows }: Rooms, _call: Call, input: Input<"deleteMachine">) {
  const { scope, name, qualifier } = checkMachineArn(input.stateMachineArn);
  if (qualifier !== undefined)
    throw sfnError(
      "ValidationException",
      `The ARN must be that of a state machine, without version or alias: ${input.stateMachineArn}`,
    );
  const machine = await workflows.machines.find(scope, name);
  if (machine) await workflows.machines.delete(machine);
  return {};
}

const numberOf = (versionArn: string): number => Number(parseMachineArn(versionArn)?.qualifier);

export async function publishStateMachineVersion(rooms: Rooms, _call: Call, input: Input<"publish">) {
  const machine = await findMachine(rooms, input.stateMachineArn);
  if (input.revisionId !== undefined && input.revisionId !== (machine.revisionId ?? "INITIAL"))
    throw sfnError(
      "ConflictException",
      `Failed to publish the State Machine version for revision ${input.revisionId}. The current State Machine revision is ${machine.revisionId ?? "INITIAL"}.`,
    );
  const version = await rooms.workflows.machines.publish(machine, input.description);
  return { creationDate: seconds(version.createdAtMs), stateMachineVersionArn: version.arn };
}

const listedVersion = ({ createdAtMs, arn }: VersionRecord) => ({
  creationDate: seconds(createdAtMs),
  stateMachineVersionArn: arn,
});

export async function listStateMachineVersions(rooms: Rooms, _call: Call, input: Input<"listOfMachine">) {
  const page = pageOf(input);
  const machine = await findMachine(rooms, input.stateMachineArn);
  const { items, nextToken } = cut(await rooms.workflows.machines.versions(machine, page), page);
  return {
    stateMachineVersions: items.map(listedVersion),
    ...(nextToken === undefined ? {} : { nextToken }),
  };
}

export async function deleteStateMachineVersion({ workflows }: Rooms, _call: Call, input: Input<"version">) {
  const { stateMachineVersionArn: arn } = input;
  const { scope, name, qualifier } = checkMachineArn(arn);
  const machine = await workflows.machines.find(scope, name);
  if (!machine || qualifier === undefined) return {};
  const aliases = await workflows.machines.aliases(machine, { limit: 1000, offset: 0 });
  const referring = aliases.filter(({ routes }) =>
    routes.some((route) => route.stateMachineVersionArn === arn),
  );
  if (referring.length > 0) {
    const names = referring.map((alias) => alias.name).join(", ");
    throw sfnError(
      "ConflictException",
      `Version to be deleted must not be referenced by an alias. Current list of aliases referencing this version: [${names}]`,
    );
  }
  await workflows.machines.deleteVersion(machine, Number(qualifier));
  return {};
}

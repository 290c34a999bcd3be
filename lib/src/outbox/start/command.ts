// A workflow's start, written once: the name that repeats find, and an input that is byte for byte the same at every
// retry (another input under the same name is a different start). Pure.
import { isStorable } from "../../core/text.ts";
import { outboxErrors } from "../contract.ts";

/** Enough to find the state, never a copy of it. */
export interface StartCommand {
  readonly workflowName: string;
  readonly workflowVersion: string;
  readonly tenantId: string;
  readonly caseId: string;
  readonly commandId: string;
  readonly requestedBy: string;
  readonly correlationId: string;
  /** When the command was accepted, as it was first recorded; never the time of a retry. */
  readonly startedAt: string;
  readonly policyVersion?: string;
}

const fields = [
  "workflowName",
  "workflowVersion",
  "caseId",
  "tenantId",
  "commandId",
  "requestedBy",
  "correlationId",
  "startedAt",
  "policyVersion",
] as const satisfies readonly (keyof StartCommand)[];

const fieldLengthMax = 512;

const invalid = (message: string) => outboxErrors.error("TUNTAS_START_INVALID", message);

function checkField(name: string, value: unknown): void {
  if (name === "policyVersion" && value === undefined) return;
  if (typeof value !== "string") throw invalid(`${name}: expected text, got ${typeof value}`);
  if (value === "" || value.length > fieldLengthMax || !isStorable(value)) {
    throw invalid(`${name}: expected 1 to ${fieldLengthMax} characters without NUL, got ${value.length}`);
  }
}

function checkCommand(command: StartCommand): void {
  const strange = Object.keys(command).find((name) => !(fields as readonly string[]).includes(name));
  if (strange !== undefined)
    throw invalid(`expected ids only, got ${strange}; a step loads it from the database`);
  for (const name of fields) checkField(name, command[name]);
  if (Number.isNaN(Date.parse(command.startedAt)))
    throw invalid(`startedAt: expected a time, got ${command.startedAt}`);
}

/** The start's input: the same command gives the same bytes. Errors: TUNTAS_START_INVALID. */
export function startInput(command: StartCommand): string {
  checkCommand(command);
  return JSON.stringify(Object.fromEntries(fields.map((name) => [name, command[name]])));
}

// Step Functions allows 80 characters; these are the ones that its logs can hold too.
const nameLengthMax = 80;
const nameCharacters = /^[A-Za-z0-9_-]+$/;

/** `<workflow>-<tenant>-<case>-<command>`, Step Functions' own idempotency key. Errors: TUNTAS_START_INVALID. */
export function executionName({ workflowName, tenantId, caseId, commandId }: StartCommand): string {
  const name = [workflowName, tenantId, caseId, commandId].join("-");
  if (name.length > nameLengthMax)
    throw invalid(
      `execution name: expected at most ${nameLengthMax} characters, got ${name.length}: ${name}`,
    );
  if (!nameCharacters.test(name))
    throw invalid(`execution name: expected letters, digits, - and _, got ${name}`);
  return name;
}

/** A, B or C, as the seed of this design names them. */
export type StartPattern = "A" | "B" | "C";

export interface StartNeeds {
  /** Whether the workflow owns the process, so that nothing need be recorded before it runs. */
  readonly workflowOwnsProcess: boolean;
  /** Whether an accepted command must be on record before anything runs (regulated cases). */
  readonly durableAcceptance: boolean;
  /** Whether the caller needs the execution at once, and a reconciliation is run for those that were missed. */
  readonly lowLatency: boolean;
}

/** Durable acceptance decides first, because the other two lose commands that they have accepted. */
export function choosePattern({
  workflowOwnsProcess,
  durableAcceptance,
  lowLatency,
}: StartNeeds): StartPattern {
  if (durableAcceptance) return lowLatency ? "C" : "B";
  return workflowOwnsProcess ? "A" : "B";
}

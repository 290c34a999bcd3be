// Makes the database agree with a declared workflow, and starts its executions.
import { randomUUID } from "node:crypto";
import { describeIssues } from "../core/schema.ts";
import { isStorable } from "../core/text.ts";
import { keepsBack } from "../engine/handler/replay.ts";
import { defaultScope } from "../queue/contract.ts";
import type { Machines } from "./client/machines.ts";
import type { Workflows } from "./client/index.ts";
import type { MachineRecord, StartResult, SuppressedStart } from "./contract.ts";
import { workflowErrors } from "./contract.ts";
import type { StartOptions, WorkflowDefinition } from "./declaration.ts";

const roleArn = `arn:aws:iam::${defaultScope.account}:role/tuntas`;

/** The machine of a workflow: made, or changed to what is declared. Errors: TUNTAS_WORKFLOW_DEFINITION. */
export async function ensureWorkflow(
  machines: Machines,
  { name, definition, tasks, options }: WorkflowDefinition,
): Promise<MachineRecord> {
  const type = options.type ?? "STANDARD";
  const settings = {
    definition: JSON.stringify(definition),
    roleArn,
    handlers: [...tasks.keys()].toSorted(),
  };
  const made = await machines.create(defaultScope, { ...settings, name, type, tags: {}, publish: false });
  if (made.status === "created") return made.machine;
  if (made.machine.type !== type)
    throw workflowErrors.error(
      "TUNTAS_WORKFLOW_DEFINITION",
      `workflow ${name}: expected type ${made.machine.type}, which the machine has for good, got ${type}`,
    );
  return (await machines.update(made.machine, { settings, publish: false })).machine;
}

const wrong = (name: string, message: string): Error =>
  workflowErrors.error("TUNTAS_WORKFLOW_INPUT", `workflow ${name}: ${message}`);

/** What was given is kept, as JSON text; the schema's own changes apply where a step parses it. */
async function textOf({ name, options }: WorkflowDefinition, input: unknown): Promise<string> {
  const result = await options.input?.["~standard"].validate(input);
  if (result?.issues) throw wrong(name, describeIssues(result.issues));
  const text = JSON.stringify(input ?? {});
  if (text === undefined || !isStorable(text))
    throw wrong(name, "expected plain data, got what JSON cannot hold");
  return text;
}

// What Step Functions takes, without the control characters.
const namePattern = /^[^\s<>{}[\]?*"#%\\^|~`$&,;:/\p{Cc}]{1,80}$/u;

/** A start as it was asked for in code. */
export interface AskedStart {
  readonly name: string;
  /** As JSON text. */
  readonly input: string;
  readonly traceHeader: string | undefined;
}

/** What is to be started, checked. Errors: TUNTAS_WORKFLOW_INPUT. */
export async function askedStart(
  workflow: WorkflowDefinition,
  input: unknown,
  { name = randomUUID(), traceHeader }: StartOptions,
): Promise<AskedStart> {
  if (!namePattern.test(name))
    throw wrong(workflow.name, `expected a name of 1 to 80 plain characters, got ${JSON.stringify(name)}`);
  return { name, input: await textOf(workflow, input), traceHeader };
}

/** Starts an execution of a declared workflow. Errors: TUNTAS_WORKFLOW_INPUT. */
export async function startDeclared(
  { executions }: Workflows,
  { workflow, machine }: { readonly workflow: WorkflowDefinition; readonly machine: MachineRecord },
  input: unknown,
  options: StartOptions,
): Promise<StartResult | SuppressedStart> {
  const target = { machine, versionArn: null, aliasArn: null };
  const request = { target, ...(await askedStart(workflow, input, options)) };
  if (keepsBack()) return { status: "suppressed", arn: "" };
  const { tx } = options;
  const started = await (tx ? executions.startIn(tx, request) : executions.start(request));
  if (started.status !== "conflict") return started;
  const there = await executions.find(started.arn);
  return there?.input === request.input
    ? { status: "duplicate", arn: there.arn, startedAtMs: there.startedAtMs }
    : started;
}

// Starting executions of machines elsewhere: at once, or with the caller's transaction, which announces the start to the outbox.
// The name is what repeats find; what the other service cannot keep of it is refused.
import { add } from "../../outbox/client.ts";
import { startExecutionType, type Starter } from "../../outbox/contract.ts";
import { keepsBack } from "../../engine/handler/replay.ts";
import type { Receipt, Target, TargetName } from "../../engine/target.ts";
import { join, type Transaction } from "../../pg/join.ts";
import { executionNameOf } from "../client/target.ts";
import { workflowErrors, type StartResult, type SuppressedStart } from "../contract.ts";
import type { StartOptions, WorkflowDefinition } from "../declaration.ts";
import { askedStart, type AskedStart } from "../serve.ts";
import { readNowMs } from "../../pg/clock.ts";
import type { OpenMachines, RemoteStart } from "./contract.ts";

/** A kind of its own, so that no process starts it in this database. */
export const startKind = "remote-workflow";
const startTargetOf = (workflow: string): TargetName => ({ kind: startKind, name: workflow });

/** Step Functions knows no name of theirs again, and describes none. */
function refuseNamed({ name, options }: WorkflowDefinition, { name: given, tx }: StartOptions): void {
  if (options.type !== "EXPRESS" || (given === undefined && tx === undefined)) return;
  throw workflowErrors.error(
    "TUNTAS_WORKFLOW_ELSEWHERE",
    `workflow ${name}: an express execution is started once only in this database; elsewhere start it without name and tx, or make it STANDARD`,
  );
}

/** By its name it was started before: the same, or another one. */
async function meet(machines: OpenMachines, arn: string, input: string): Promise<StartResult | undefined> {
  const there = await machines.find(arn);
  if (!there) return undefined;
  return there.input === input
    ? { status: "duplicate", arn, startedAtMs: there.startedAtMs }
    : { status: "conflict", arn };
}

async function startNow(machines: OpenMachines, workflow: string, asked: RemoteStart): Promise<StartResult> {
  const { status, arn, startedAtMs } = await machines.start(workflow, asked);
  if (status === "started") return { status: "created", arn, startedAtMs };
  return (await meet(machines, arn, asked.input)) ?? { status: "conflict", arn };
}

async function startIn(
  machines: OpenMachines,
  workflow: string,
  { tx, asked }: { readonly tx: Transaction; readonly asked: AskedStart },
): Promise<StartResult> {
  const arn = await machines.arnOf(workflow, asked.name);
  await add(tx, {
    target: startTargetOf(workflow),
    key: asked.name,
    type: startExecutionType,
    payload: JSON.stringify(asked),
  });
  return { status: "created", arn, startedAtMs: await readNowMs(join(tx)) };
}

/** Starts an execution of a declared workflow. Errors: TUNTAS_WORKFLOW_INPUT, TUNTAS_WORKFLOW_ELSEWHERE, the service's. */
export async function startElsewhere(
  machines: OpenMachines,
  workflow: WorkflowDefinition,
  { input, options }: { readonly input: unknown; readonly options: StartOptions },
): Promise<StartResult | SuppressedStart> {
  refuseNamed(workflow, options);
  const asked = await askedStart(workflow, input, options);
  if (keepsBack()) return { status: "suppressed", arn: "" };
  const { name } = workflow;
  if (options.tx) return startIn(machines, name, { tx: options.tx, asked });
  // Step Functions answers a repeat as it answered the start.
  const there =
    options.name === undefined
      ? undefined
      : await meet(machines, await machines.arnOf(name, options.name), asked.input);
  return there ?? startNow(machines, name, asked);
}

async function taken(machines: OpenMachines, workflow: string, asked: RemoteStart): Promise<Receipt> {
  const started = await startNow(machines, workflow, asked);
  if (started.status !== "conflict") return { status: started.status, reference: started.arn };
  throw workflowErrors.error(
    "TUNTAS_EXECUTION_TAKEN",
    `${started.arn}: expected a free name or the same start again, but its input is another`,
  );
}

/** Takes starts that were asked for in code, with a transaction. */
export const startTarget = (machines: OpenMachines, workflow: string): Target => ({
  deliver: ({ payload }) => taken(machines, workflow, JSON.parse(payload) as AskedStart),
});

/** Takes what is announced to a workflow by its name. */
export const starterElsewhere =
  (machines: OpenMachines, workflow: string): Starter =>
  (announcement) =>
    taken(machines, workflow, { name: executionNameOf(announcement), input: announcement.payload });

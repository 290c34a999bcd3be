// What the commands on workflows have in common: finding the workflow or the execution that a person means.
import type { Platform } from "tuntas";
import { machineArn, workflowErrors, type ExecutionRecord, type MachineRecord } from "tuntas/workflow";
import type { Call } from "../../command.ts";
import { scopeOf, withPlatform } from "../../session.ts";

/** A machine by name, or by the ARN of it, a version or an alias. Errors: TUNTAS_WORKFLOW_MISSING. */
export async function findMachine(
  { workflows }: Platform,
  call: Call,
  named: string,
): Promise<MachineRecord> {
  const arn = named.startsWith("arn:") ? named : machineArn(scopeOf(call), named);
  const target = await workflows.machines.resolve(arn);
  if (target) return target.machine;
  throw workflowErrors.error("TUNTAS_WORKFLOW_MISSING", `there is no workflow ${named}`, {
    details: { name: named },
  });
}

/** `WORKFLOW/NAME` or an ARN. Errors: TUNTAS_EXECUTION_MISSING. */
export const withExecution = <T>(
  call: Call,
  work: (platform: Platform, execution: ExecutionRecord) => Promise<T>,
): Promise<T> =>
  withPlatform(async (platform) => {
    const named = call.argument(0);
    const arn = await arnOf(platform, call, named);
    const execution = await platform.workflows.executions.find(arn);
    if (!execution) throw workflowErrors.error("TUNTAS_EXECUTION_MISSING", `there is no execution ${named}`);
    return work(platform, execution);
  });

/** The ARN of `WORKFLOW/NAME`; an ARN stays what it is. Errors: TUNTAS_WORKFLOW_MISSING. */
export async function arnOf(platform: Platform, call: Call, named: string): Promise<string> {
  if (named.startsWith("arn:")) return named;
  const [workflow = "", ...name] = named.split("/");
  const machine = await findMachine(platform, call, workflow);
  return `${machine.arn.replace(":stateMachine:", ":execution:")}:${name.join("/")}`;
}

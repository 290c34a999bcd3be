// Where the machines of declared workflows are: Step Functions knows them by ARN only, which has account and region.
import { paginateListStateMachines, type SFNClient } from "@aws-sdk/client-sfn";
import { workflowErrors } from "tuntas/workflow";
import { codedMachine, missing } from "./client.ts";

export interface Names {
  machine(workflow: string): Promise<string>;
  /** What an execution of that name is, or would be. */
  execution(workflow: string, name: string): Promise<string>;
}

const form = /^arn:aws[a-z-]*:states:[a-z0-9-]+:\d{12}:stateMachine$/;

function checked(given: string): string {
  if (form.test(given)) return given;
  throw workflowErrors.error(
    "TUNTAS_MACHINE_REFUSED",
    `stepFunctions: machines (TUNTAS_STATE_MACHINES): expected arn:aws:states:REGION:ACCOUNT:stateMachine, got ${JSON.stringify(given)}`,
  );
}

async function listed(client: SFNClient): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  try {
    for await (const { stateMachines = [] } of paginateListStateMachines({ client }, {}))
      for (const { name, stateMachineArn } of stateMachines) found.set(name!, stateMachineArn!);
  } catch (cause) {
    throw codedMachine(cause, "list the state machines (TUNTAS_STATE_MACHINES would say where they are)");
  }
  return found;
}

export function makeNames(client: SFNClient, given: string | undefined): Names {
  const prefix = given === undefined ? undefined : checked(given);
  let known: Promise<Map<string, string>> | undefined;

  async function machine(workflow: string): Promise<string> {
    if (prefix !== undefined) return `${prefix}:${workflow}`;
    known ??= listed(client);
    const arn = (await known.catch(() => undefined))?.get(workflow);
    if (arn !== undefined) return arn;
    const failed = known;
    known = undefined; // it may be there when it is asked for again
    await failed;
    throw missing(workflow);
  }

  return {
    machine,
    execution: async (workflow, name) =>
      `${(await machine(workflow)).replace(":stateMachine:", ":execution:")}:${name}`,
  };
}

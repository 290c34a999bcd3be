// Executions of either place, by the room's own client: what the other service tells of one and does with it, and a refusal that
// says where to go for the rest.
import { parseArn } from "../arn.ts";
import type { Executions } from "../client/executions.ts";
import { workflowErrors, type ExecutionRecord } from "../contract.ts";
import type { WorkflowDefinition } from "../declaration.ts";
import type { OpenMachines, RemoteExecution } from "./contract.ts";

/** It has no row here: its ARN stands where the row's id would. */
const recordOf = (execution: RemoteExecution, type: ExecutionRecord["type"]): ExecutionRecord => ({
  ...execution,
  id: execution.arn,
  machineId: execution.machineArn,
  revision: execution.versionArn ?? "",
  type,
});

const isElsewhere = ({ id, arn }: Pick<ExecutionRecord, "id" | "arn">): boolean => id === arn;

const refuse = (what: string, { arn }: Pick<ExecutionRecord, "arn">): Error =>
  workflowErrors.error(
    "TUNTAS_WORKFLOW_ELSEWHERE",
    `${arn} runs elsewhere: ${what} there (\`aws stepfunctions\`), not from here`,
  );

/** The executions of this database, and those of these workflows elsewhere. */
export function executionsOfBoth(
  local: Executions,
  machines: OpenMachines,
  workflows: readonly WorkflowDefinition[],
): Executions {
  const byName = new Map(workflows.map((workflow) => [workflow.name, workflow]));

  async function findThere(arn: string): Promise<ExecutionRecord | undefined> {
    const parsed = parseArn(arn);
    const workflow = parsed?.kind === "execution" ? byName.get(parsed.parts[0]!) : undefined;
    const found = workflow && (await machines.find(arn));
    return found && recordOf(found, workflow.options.type ?? "STANDARD");
  }

  /** Refuses what is elsewhere. */
  const here =
    <Rest extends unknown[], T>(
      what: string,
      work: (execution: ExecutionRecord, ...rest: Rest) => Promise<T>,
    ) =>
    async (execution: ExecutionRecord, ...rest: Rest): Promise<T> => {
      if (isElsewhere(execution)) throw refuse(what, execution);
      return work(execution, ...rest);
    };

  return {
    ...local,
    find: async (arn) => (await findThere(arn)) ?? local.find(arn),
    stop: (execution, failure) =>
      isElsewhere(execution) ? machines.stop(execution.arn, failure) : local.stop(execution, failure),
    history: here("read its history", local.history),
    async historyAfter(execution, seq) {
      if (parseArn(execution.id)) throw refuse("read its history", { arn: execution.id });
      return local.historyAfter(execution, seq);
    },
    redrive: here("redrive it", local.redrive),
    redrivenBy: here("ask for its redrives", local.redrivenBy),
    mapRuns: here("list its map runs", local.mapRuns),
  };
}

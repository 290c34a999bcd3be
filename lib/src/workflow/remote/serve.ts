// The declared workflows of an application whose machines run elsewhere: what works on their tasks here, what starts them, and
// who tells them what was announced.
import type { Log } from "../../engine/log.ts";
import type { Targets } from "../../engine/target.ts";
import type { Starter } from "../../outbox/contract.ts";
import type { Database } from "../../pg/database.ts";
import type { WorkerDefinition } from "../../queue/declaration.ts";
import type { Executions } from "../client/executions.ts";
import type { StartResult, SuppressedStart } from "../contract.ts";
import type { StartOptions, WorkflowDefinition } from "../declaration.ts";
import type { MachineService } from "./contract.ts";
import { executionsOfBoth } from "./executions.ts";
import { makeSeal } from "./seal.ts";
import { starterElsewhere, startElsewhere, startKind, startTarget } from "./start.ts";
import { answerTarget, answerTargetOf } from "./tell.ts";
import { taskWorker } from "./worker.ts";

export interface ElsewhereParts {
  readonly database: Database;
  readonly targets: Targets;
  readonly log: Log;
  /** Makes text that only this installation can make. */
  readonly tokenOf: (reference: string) => string;
}

export interface Elsewhere {
  /** The worker of a workflow's task queue; undefined where it has no tasks. */
  workerOf(workflow: WorkflowDefinition): WorkerDefinition | undefined;
  start(
    workflow: WorkflowDefinition,
    input: unknown,
    options: StartOptions,
  ): Promise<StartResult | SuppressedStart>;
  starterOf(workflow: WorkflowDefinition): Starter;
  /** Executions of this database and of these machines. */
  executions(local: Executions): Executions;
  close(): Promise<void>;
}

/** Opens the service for these workflows. Errors: those of its `open`. */
export async function openElsewhere(
  service: MachineService,
  workflows: readonly WorkflowDefinition[],
  { database, targets, log, tokenOf }: ElsewhereParts,
): Promise<Elsewhere> {
  const machines = await service.open();
  const { seal, unseal } = makeSeal(tokenOf("the tokens of machines elsewhere"));
  const answers = answerTarget({ database, machines, unseal, log });
  const unbinds = workflows.flatMap(({ name }) => [
    targets.bind(answerTargetOf(name), answers),
    targets.bind({ kind: startKind, name }, startTarget(machines, name)),
  ]);
  return {
    workerOf: (workflow) => taskWorker({ database, machines, seal, log }, workflow),
    start: (workflow, input, options) => startElsewhere(machines, workflow, { input, options }),
    starterOf: ({ name }) => starterElsewhere(machines, name),
    executions: (local) => executionsOfBoth(local, machines, workflows),
    async close() {
      for (const unbind of unbinds) unbind();
      await machines.close();
    },
  };
}

// Workflows of an application: their machines, made here or opened where they run, who starts them, and what works on their tasks.
import type { Tracing } from "./measure/trace.ts";
import { workflowTarget } from "./outbox/start/index.ts";
import type { Platform } from "./platform.ts";
import { defaultScope } from "./queue/contract.ts";
import type { WorkerDefinition } from "./queue/declaration.ts";
import type { QueueService } from "./queue/remote/contract.ts";
import type { ScheduleDefinition } from "./schedule/contract.ts";
import { scheduleErrors } from "./schedule/contract.ts";
import { workflowErrors, type MachineRecord } from "./workflow/contract.ts";
import { bindWorkflow, type WorkflowDefinition } from "./workflow/declaration.ts";
import { tasksOf } from "./workflow/definition/functions.ts";
import type { MachineService } from "./workflow/remote/contract.ts";
import { openElsewhere, type Elsewhere } from "./workflow/remote/serve.ts";
import { ensureWorkflow, startDeclared } from "./workflow/serve.ts";

type Start = Parameters<typeof bindWorkflow>[1];

/** What the application does with decisions, and how its domain rows are read. */
function bindHooks({ approvals, redrives }: Platform["workflows"], workflow: WorkflowDefinition): void {
  const { name, options, definition, tasks } = workflow;
  redrives.bind(name, options.domain);
  for (const { name: state, function: called } of tasksOf(definition)) {
    const decided = called === undefined ? undefined : tasks.get(called)?.decided;
    if (decided) approvals.bind({ workflow: name, task: state }, decided);
  }
}

function bindStart(workflow: WorkflowDefinition, tracing: Tracing | undefined, start: NonNullable<Start>) {
  bindWorkflow(workflow, (of, input, options) => {
    const begin = (traced: typeof options) => start(of, input, traced);
    return tracing ? tracing.start(of.name, options, begin) : begin(options);
  });
}

interface Served {
  readonly workflow: WorkflowDefinition;
  readonly machine: MachineRecord;
}

/** From now on this process carries out their tasks. */
async function serve(
  pairs: readonly Served[],
  { workflows }: Platform,
  tracing: Tracing | undefined,
): Promise<void> {
  const traceHeaderOf = async (arn: string) => (await workflows.executions.find(arn))?.traceHeader;
  for (const { workflow, machine } of pairs)
    await workflows.serve(tracing?.workflow(workflow, traceHeaderOf) ?? workflow, machine);
}

/** The machines of the declared workflows are made, and their executions can be started. */
async function beginHere(
  declared: readonly WorkflowDefinition[],
  { workflows }: Platform,
  tracing: Tracing | undefined,
): Promise<Served[]> {
  const pairs = await Promise.all(
    declared.map(async (workflow) => ({
      workflow,
      machine: await ensureWorkflow(workflows.machines, workflow),
    })),
  );
  for (const pair of pairs)
    bindStart(pair.workflow, tracing, (_, input, options) => startDeclared(workflows, pair, input, options));
  return pairs;
}

/** Executions start elsewhere; those that began here, before, go on here. */
async function beginThere(
  declared: readonly WorkflowDefinition[],
  elsewhere: Elsewhere,
  { platform, tracing }: { readonly platform: Platform; readonly tracing: Tracing | undefined },
): Promise<Served[]> {
  const { workflows } = platform;
  const left: Served[] = [];
  for (const workflow of declared) {
    const { name } = workflow;
    bindStart(workflow, tracing, elsewhere.start);
    const machine = await workflows.machines.find(defaultScope, name);
    if (machine?.handlers) left.push({ workflow, machine });
  }
  return left;
}

export interface WorkflowsBegun {
  /** Carries out the tasks of executions of this database. */
  serve(): Promise<void>;
  /** As the application sees it: with executions of wherever its workflows run. */
  readonly platform: Platform;
}

/** What is asked of workflows that run elsewhere and cannot be. Errors: TUNTAS_WORKFLOW_ELSEWHERE, TUNTAS_SCHEDULE_TARGET. */
export function checkElsewhere({
  queues,
  fired,
}: {
  readonly queues: QueueService | undefined;
  readonly fired: readonly ScheduleDefinition[];
}): void {
  if (!queues)
    throw workflowErrors.error(
      "TUNTAS_WORKFLOW_ELSEWHERE",
      "start: the tasks of workflows that run elsewhere come by queues: expected `queues` beside `workflows`",
    );
  // What is due is begun with a row of this database, in one commit; an execution elsewhere has none.
  const wrong = fired.find(({ options }) => options.target.kind === "workflow");
  if (wrong)
    throw scheduleErrors.error(
      "TUNTAS_SCHEDULE_TARGET",
      `start: schedule ${wrong.name}: its workflow runs elsewhere, where EventBridge starts it; name only other schedules in \`schedules\` (\`[]\` for none)`,
    );
}

/** Opens the service where the workflows run; undefined where they run here. */
export async function openMachines(
  service: MachineService | undefined,
  declared: readonly WorkflowDefinition[],
  { database, targets, log, workflows }: Platform,
): Promise<Elsewhere | undefined> {
  if (!service) return undefined;
  const { tokenOf } = workflows;
  const elsewhere = await openElsewhere(service, declared, { database, targets, log, tokenOf });
  const unbinds = declared.map((workflow) =>
    targets.bind(
      { kind: "workflow", name: workflow.name },
      workflowTarget(database, elsewhere.starterOf(workflow)),
    ),
  );
  return {
    ...elsewhere,
    async close() {
      for (const unbind of unbinds) unbind();
      await elsewhere.close();
    },
  };
}

/** The workers of the queues by which tasks of machines elsewhere come. */
export const taskWorkers = (
  declared: readonly WorkflowDefinition[],
  elsewhere: Elsewhere | undefined,
  tracing: Tracing | undefined,
): WorkerDefinition[] =>
  elsewhere
    ? declared.flatMap(
        (workflow) =>
          elsewhere.workerOf(tracing?.workflow(workflow, async () => undefined) ?? workflow) ?? [],
      )
    : [];

export async function beginWorkflows(
  declared: readonly WorkflowDefinition[],
  platform: Platform,
  { tracing, elsewhere }: { tracing: Tracing | undefined; elsewhere: Elsewhere | undefined },
): Promise<WorkflowsBegun> {
  const { workflows } = platform;
  const pairs = elsewhere
    ? await beginThere(declared, elsewhere, { platform, tracing })
    : await beginHere(declared, platform, tracing);
  for (const workflow of declared) bindHooks(workflows, workflow);
  const seen = elsewhere
    ? { ...platform, workflows: { ...workflows, executions: elsewhere.executions(workflows.executions) } }
    : platform;
  return { platform: seen, serve: () => serve(pairs, platform, tracing) };
}

// Workflows of an application: their machines, how executions of them are started, and what people decide about them.
import type { Tracing } from "./measure/trace.ts";
import type { Platform } from "./platform.ts";
import { bindWorkflow, type WorkflowDefinition } from "./workflow/declaration.ts";
import { tasksOf } from "./workflow/definition/functions.ts";
import { ensureWorkflow, startDeclared } from "./workflow/serve.ts";

/** What the application does with decisions, and how its domain rows are read. */
function bindHooks({ approvals, redrives }: Platform["workflows"], workflow: WorkflowDefinition): void {
  const { name, options, definition, tasks } = workflow;
  redrives.bind(name, options.domain);
  for (const { name: state, function: called } of tasksOf(definition)) {
    const decided = called === undefined ? undefined : tasks.get(called)?.decided;
    if (decided) approvals.bind({ workflow: name, task: state }, decided);
  }
}

/** The machines of the declared workflows are made, and their executions can be started. */
export async function beginWorkflows(
  declared: readonly WorkflowDefinition[],
  { workflows }: Pick<Platform, "workflows">,
  tracing: Tracing | undefined,
): Promise<() => Promise<void>> {
  const pairs = await Promise.all(
    declared.map(async (workflow) => ({
      workflow,
      machine: await ensureWorkflow(workflows.machines, workflow),
    })),
  );
  for (const pair of pairs)
    bindWorkflow(pair.workflow, ({ name }, input, options) => {
      const begin = (traced: typeof options) => startDeclared(workflows, pair, input, traced);
      return tracing ? tracing.start(name, options, begin) : begin(options);
    });
  const traceHeaderOf = async (arn: string) => (await workflows.executions.find(arn))?.traceHeader;
  for (const { workflow } of pairs) bindHooks(workflows, workflow);
  return async () => {
    for (const { workflow, machine } of pairs)
      await workflows.serve(tracing?.workflow(workflow, traceHeaderOf) ?? workflow, machine);
  };
}

// What the tasks of workflows were measured to take, against what they may take.
import type { Json } from "../asl/index.ts";
import { toMs } from "../core/duration.ts";
import type { WorkflowDefinition } from "../workflow/declaration.ts";
import { tasksOf } from "../workflow/definition/functions.ts";
import type { Declared, Sighting } from "./contract.ts";
import { inWords } from "./words.ts";

interface Bound {
  readonly what: string;
  readonly ms: number;
}

const seconds = (what: string, value: Json | undefined): Bound[] =>
  typeof value === "number" ? [{ what, ms: value * 1000 }] : [];

/** The shortest time that somebody gives the task: itself, or a state that waits for no more than its result. */
function boundOf({ definition, tasks }: WorkflowDefinition, task: string): Bound | undefined {
  const { timeout } = tasks.get(task)!.options;
  const own = timeout === undefined ? [] : [{ what: "its own timeout", ms: toMs(timeout) }];
  const states = tasksOf(definition).filter((each) => each.function === task);
  const given = states.flatMap(({ name, state }) =>
    String(state.Resource).endsWith(".waitForTaskToken")
      ? []
      : seconds(`the TimeoutSeconds of ${name}`, state.TimeoutSeconds),
  );
  return [...own, ...given].toSorted((a, b) => a.ms - b.ms)[0];
}

/** A handler that takes more than half of its time on one of a hundred calls will time out on a bad day. */
export const checkTasks = ({ workflows, measured }: Declared): Sighting[] =>
  workflows.flatMap((workflow) =>
    [...workflow.tasks.keys()].flatMap((task): Sighting[] => {
      const seen = measured?.get(`${workflow.name}/${task}`);
      const bound = seen && boundOf(workflow, task);
      if (!bound || seen.p99Ms <= bound.ms / 2) return [];
      const p99Ms = Math.round(seen.p99Ms);
      const message = `${workflow.name}: the p99 of task ${task} was ${inWords(p99Ms)} over ${seen.attempts} attempts, and ${bound.what} is ${inWords(bound.ms)}`;
      const values = [
        { what: "measured p99", ms: p99Ms },
        { what: bound.what, ms: bound.ms },
      ];
      return [{ rule: "task-near-timeout", name: workflow.name, place: undefined, message, values }];
    }),
  );

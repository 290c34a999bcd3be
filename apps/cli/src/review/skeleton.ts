// The beginning of a state machine from the steps that a page lists: each a task with a time, a retry of its own and a way out.

/** `Take the money!` as `TakeTheMoney`. */
const stateName = (step: string): string =>
  step
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
    .map((word) => word[0]!.toUpperCase() + word.slice(1))
    .join("")
    .slice(0, 60);

const taskName = (state: string): string => state[0]!.toLowerCase() + state.slice(1);

const handedOver = "HandedToAPerson";

const task = (state: string, next: string | undefined): object => ({
  Type: "Task",
  Resource: "arn:aws:states:::lambda:invoke",
  Parameters: { FunctionName: taskName(state), "Payload.$": "$" },
  ResultPath: null, // What goes from step to step are identifiers.
  TimeoutSeconds: 60,
  Retry: [{ ErrorEquals: ["States.Timeout", "States.TaskFailed"], MaxAttempts: 3, BackoffRate: 2 }],
  Catch: [{ ErrorEquals: ["States.ALL"], ResultPath: "$.error", Next: handedOver }],
  ...(next === undefined ? { End: true } : { Next: next }),
});

/** Undefined where no step has a name. */
export function skeletonOf(steps: readonly string[]): object | undefined {
  const names = [...new Set(steps.map(stateName))].filter((name) => name !== "" && name !== handedOver);
  if (names.length === 0) return undefined;
  const states = names.map((name, index) => [name, task(name, names[index + 1])] as const);
  const end = { Type: "Fail", Error: "NeedsAPerson", CausePath: "$.error.Cause" };
  return { StartAt: names[0], States: { ...Object.fromEntries(states), [handedOver]: end } };
}

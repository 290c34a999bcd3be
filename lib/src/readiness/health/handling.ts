// What is being done to the dead letters of a queue: only what runs, and is enough for all of them, handles them. Pure.
import type { Operation } from "../../operation/contract.ts";
import type { QueueSurvey } from "../../queue/client/index.ts";
import { defaultScope, type Scope } from "../../queue/contract.ts";
import type { QueueCourse } from "./contract.ts";

type Selected = {
  readonly scope?: Scope;
  readonly filter?: { readonly queue?: string };
  readonly from?: string;
};

/** The kinds of operation that are done to dead letters. */
export const deadLetterKinds = ["replay", "move", "reject"] as const;

/** Whether it is done to dead letters of the queue by name; undefined where it names no queue, so that nobody can tell. */
function concerns({ selection }: Operation, { name, deadLetterName }: QueueSurvey): boolean | undefined {
  const { scope = defaultScope, filter, from } = selection as Selected;
  if (scope.account !== defaultScope.account || scope.region !== defaultScope.region) return false;
  const queue = filter?.queue ?? from;
  return queue === undefined ? undefined : queue === name || queue === deadLetterName;
}

/** Those that it still has before it. */
const leftOf = ({ selected, done, refused, skipped }: Operation): number =>
  selected - done - refused - skipped;

const nameOf = ({ id, kind, state }: Operation): string =>
  `operation ${id} (${kind}) is ${state.replaceAll("_", " ")}`;

export function handlingOf(
  queue: QueueSurvey,
  operations: readonly Operation[],
): Pick<QueueCourse, "handledBy" | "pending"> {
  const own = operations.filter((operation) => concerns(operation, queue) === true);
  const running = own.filter(({ state }) => state === "running");
  const left = running.reduce((sum, operation) => sum + leftOf(operation), 0);
  const [first] = running;
  if (first && left >= queue.dead + queue.quarantined) return { handledBy: nameOf(first), pending: null };
  if (first) return { handledBy: null, pending: `${nameOf(first)} for ${left} of them` };
  if (own[0]) return { handledBy: null, pending: nameOf(own[0]) };
  const any = operations.find((operation) => concerns(operation, queue) === undefined);
  return { handledBy: null, pending: any ? `${nameOf(any)}, and names no queue` : null };
}

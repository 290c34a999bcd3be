// The own task that a branch waits for, out of what is kept: the row's command where it is of this very task, else the
// history, which has told of every task as it was scheduled.
import type { HistoryEvent, Json, StartTask } from "../../../asl/contract.ts";
import { resourceOf, specAt } from "../../../asl/index.ts";
import type { Sql } from "../../../pg/contract.ts";
import { readHistory } from "../../store/executions.ts";
import type { Held } from "../engine/index.ts";

interface Scheduled {
  readonly input?: string;
  readonly parameters?: string;
  readonly timeoutInSeconds?: number;
  readonly heartbeatInSeconds?: number;
}

/** The event that scheduled the task which the branch's latest event belongs to. */
function scheduledAt(events: readonly HistoryEvent[], latest: number): Scheduled | undefined {
  let event = events[latest - 1];
  while (event && !event.type.endsWith("Scheduled")) event = events[event.previousEventId - 1];
  const key = event && Object.keys(event).find((name) => name.endsWith("EventDetails"));
  return key === undefined ? undefined : (event as unknown as Record<string, Scheduled>)[key];
}

/** Undefined where the branch waits for no own task that this process would carry out. */
export async function awaitedTask(
  database: Pick<Sql, "run">,
  held: Held,
  { key, command }: { readonly key: string; readonly command: string },
): Promise<StartTask | undefined> {
  const branch = held.state.branches.find(({ id }) => key === `own:${id}`);
  if (branch?.wait?.for !== "task" || !branch.wait.own || branch.wait.phase === "submitted") return undefined;
  const { task, token } = branch.wait;
  const written = JSON.parse(command) as StartTask;
  if (written.task === task) return written;
  const found = scheduledAt(await readHistory(database, held.id), branch.lastEventId);
  if (!found) return undefined;
  const resource = specAt(held.machine, held.state, branch).resource!;
  const { kind, pattern } = resourceOf(resource);
  return {
    type: "startTask",
    task,
    branch: branch.id,
    entry: branch.enteredEventId,
    own: true,
    stateName: branch.state,
    kind,
    pattern,
    resource,
    input: JSON.parse(found.input ?? found.parameters ?? "null") as Json,
    attempt: (branch.retries ?? []).reduce((sum, each) => sum + each, 0),
    token,
    ...(found.timeoutInSeconds === undefined ? {} : { timeoutSeconds: found.timeoutInSeconds }),
    ...(found.heartbeatInSeconds === undefined ? {} : { heartbeatSeconds: found.heartbeatInSeconds }),
  };
}

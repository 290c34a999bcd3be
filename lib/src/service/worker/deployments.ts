// How a deployment goes on and ends: watched by the alarms that it is tied to, completed, or failed and undone.
import type { Action, ServiceView } from "../state.ts";
import * as store from "../store/control.ts";
import { insertDeployment } from "../store/services.ts";
import type { ControllerOptions, Write } from "./context.ts";

type Failure = Action & { do: "fail" };

/** How the record names what failed it. */
function wordsOf({ cause }: Failure, revision: number) {
  if ("alarm" in cause)
    return { event: "alarm", actor: `alarm ${cause.alarm}`, reason: cause.reason } as const;
  const reason = `${cause.failures} instances of revision ${revision} failed`;
  return { event: "breaker", actor: "circuit breaker", reason } as const;
}

export function makeDeployments({ alarms }: Pick<ControllerOptions, "alarms">, write: Write) {
  /** What its alarms say of a deployment under way; a rollback is not stopped by what it is to end. */
  async function watch({ definition, deployment }: store.Controlled): Promise<ServiceView["alarms"]> {
    const tied = definition.rollout.alarms;
    if (!tied || deployment.state !== "in_progress" || deployment.rollbackOf !== null) return undefined;
    const standing = await alarms.standing(tied.names);
    const firing = standing.flatMap(({ name, firing: subjects }) =>
      subjects.map(({ subject, ...rest }) => ({ ...rest, alarm: subject ? `${name}: ${subject}` : name })),
    );
    const fired = firing.find(({ sinceMs }) => sinceMs >= deployment.startedAtMs);
    const bakeMs = tied.bakeMs ?? Math.max(0, ...standing.map(({ windowMs }) => windowMs));
    return { fired: fired && { alarm: fired.alarm, reason: fired.reason }, bakeMs };
  }

  async function fail({ name: service, deployment }: store.Controlled, action: Failure): Promise<void> {
    const { id, revision } = deployment;
    const { cause, rollbackTo } = action;
    const { event, ...by } = wordsOf(action, revision);
    await write(async (tx, tell) => {
      if (!(await store.endDeployment(tx, id, "failed"))) return;
      tell({ service, event, deploymentId: id, detail: { revision, ...cause } });
      if (rollbackTo === null) return;
      const back = await insertDeployment(tx, { service, revision: rollbackTo, rollbackOf: id, ...by });
      const detail = { revision: rollbackTo, rollbackOf: id };
      tell({ service, event: "rollback", deploymentId: back.id, detail });
    });
  }

  async function bake({ name: service, deployment: { id, revision } }: store.Controlled, ms: number) {
    await write(async (tx, tell) => {
      const detail = { revision, seconds: ms / 1000 };
      if (await store.noteSteady(tx, id)) tell({ service, event: "baking", deploymentId: id, detail });
    });
  }

  async function complete({ name: service, deployment: { id, revision } }: store.Controlled): Promise<void> {
    await write(async (tx, tell) => {
      if (await store.endDeployment(tx, id, "completed"))
        tell({ service, event: "completed", deploymentId: id, detail: { revision } });
    });
  }

  return { watch, fail, bake, complete };
}

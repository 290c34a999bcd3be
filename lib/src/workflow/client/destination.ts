// Machines as a place where a room above begins work and waits for its end: one execution, started in the caller's
// transaction under the order's key, and known by its ARN.
import type { Destination } from "../../engine/destination.ts";
import { defaultScope } from "../../queue/contract.ts";
import { machineArn } from "../arn.ts";
import { workflowErrors } from "../contract.ts";
import { isOver, readFates } from "../store/fates.ts";
import type { Executions } from "./executions.ts";
import type { Machines } from "./machines.ts";

export const workflowDestination = ({
  machines,
  executions,
}: {
  readonly machines: Pick<Machines, "resolve">;
  readonly executions: Pick<Executions, "startIn">;
}): Destination => ({
  async begin(tx, { target: { name }, key, input }) {
    const target = await machines.resolve(name.startsWith("arn:") ? name : machineArn(defaultScope, name));
    if (!target) throw workflowErrors.error("TUNTAS_WORKFLOW_MISSING", `there is no state machine ${name}`);
    const started = await executions.startIn(tx, { target, name: key, input });
    if (started.status !== "conflict") return started.arn;
    throw workflowErrors.error("TUNTAS_EXECUTION_TAKEN", `${started.arn}: expected a free name for ${key}`);
  },
  hasEnded: isOver,
  fates: (sql, _, arns) => readFates(sql, arns),
});

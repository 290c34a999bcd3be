// Machines as a target of announcements. A start that was asked for by name (its type says so) gets that name; any other
// announcement starts an execution that is named by its event. Either way a second delivery finds the first one's.
// The target's name is a machine's name, or the ARN of a machine, a version or an alias.
import type { Announcement } from "../../engine/target.ts";
import { Unavailable } from "../../engine/unavailable.ts";
import { startExecutionType, type Starter } from "../../outbox/contract.ts";
import { defaultScope } from "../../queue/contract.ts";
import { machineArn } from "../arn.ts";
import { workflowErrors } from "../contract.ts";
import type { Executions } from "./executions.ts";
import type { Machines } from "./machines.ts";

export const executionNameOf = ({ type, key, eventId }: Announcement): string =>
  type === startExecutionType && key !== null ? key : eventId;

/**
 * Starts executions for the patterns of `tuntas/outbox`. Errors: TUNTAS_EXECUTION_TAKEN where the name belongs to an
 * execution with another input; a machine that is missing counts as unavailable.
 */
export function workflowStarter({
  machines,
  executions,
}: {
  readonly machines: Pick<Machines, "resolve">;
  readonly executions: Pick<Executions, "start" | "find">;
}): Starter {
  return async (announcement) => {
    const { target, payload: input } = announcement;
    const arn = target.name.startsWith("arn:") ? target.name : machineArn(defaultScope, target.name);
    const machine = await machines.resolve(arn);
    // A machine that is missing is no fault of the announcement: it waits until the machine is there.
    if (!machine) throw new Unavailable(`there is no state machine ${target.name}`);
    const started = await executions.start({ target: machine, name: executionNameOf(announcement), input });
    if (started.status !== "conflict") return { status: started.status, reference: started.arn };
    // It has ended, or it is another one.
    const there = await executions.find(started.arn);
    if (there?.input === input) return { status: "duplicate", reference: started.arn };
    throw workflowErrors.error(
      "TUNTAS_EXECUTION_TAKEN",
      `${started.arn}: expected a free name or the same start again, but its input is another`,
    );
  };
}

// Machines as a target of announcements: each starts an execution that is named by its event, so that a second delivery
// finds the first one's. The target's name is a machine's name, or the ARN of a machine, a version or an alias.
import type { Receipt, Target } from "../../engine/target.ts";
import { Unavailable } from "../../engine/unavailable.ts";
import { defaultScope } from "../../queue/contract.ts";
import { machineArn } from "../arn.ts";
import type { Executions } from "./executions.ts";
import type { Machines } from "./machines.ts";

export const workflowTarget = ({
  machines,
  executions,
}: {
  readonly machines: Machines;
  readonly executions: Executions;
}): Target => ({
  async deliver({ target: { name }, eventId, payload }): Promise<Receipt> {
    const arn = name.startsWith("arn:") ? name : machineArn(defaultScope, name);
    const target = await machines.resolve(arn);
    // A machine that is missing is no fault of the announcement: it waits until the machine is there.
    if (!target) throw new Unavailable(`there is no state machine ${name}`);
    const started = await executions.start({ target, name: eventId, input: payload });
    return { status: started.status === "created" ? "created" : "duplicate", reference: started.arn };
  },
});

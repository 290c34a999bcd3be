// Who may do what: the table, and the questions that are asked of it. Nothing else in the code decides this.
import type { Role, Who } from "./contract.ts";
import { accessErrors } from "./contract.ts";

interface Permission {
  readonly meaning: string;
  readonly roles: readonly Role[];
}

const everybody: readonly Role[] = ["viewer", "operator", "approver", "admin"];
const operators: readonly Role[] = ["operator", "admin"];
const approvers: readonly Role[] = ["approver", "admin"];
const both: readonly Role[] = ["operator", "approver", "admin"];
const admins: readonly Role[] = ["admin"];

/** The acts and who may do them; docs/operate/access.md shows this table. */
export const permissions = {
  view: { meaning: "see everything, with sensitive fields of payloads masked", roles: everybody },
  "payload.reveal": { meaning: "see sensitive fields; each look is on the record", roles: approvers },
  "audit.read": { meaning: "read who did what", roles: everybody },
  "message.send": { meaning: "send a message to a queue", roles: operators },
  "api.call": { meaning: "call the application's API from the console", roles: operators },
  "message.receive": { meaning: "take a message out of a queue", roles: operators },
  "queue.pause": { meaning: "pause or resume a queue", roles: operators },
  "queue.configure": { meaning: "create a queue or change its settings", roles: operators },
  "queue.purge": { meaning: "empty or delete a queue", roles: admins },
  "dlq.replay": { meaning: "put dead letters and quarantined messages back to work", roles: operators },
  "dlq.reject": { meaning: "end dead letters and quarantined messages", roles: operators },
  "workflow.start": { meaning: "start an execution", roles: operators },
  "workflow.stop": { meaning: "stop an execution", roles: operators },
  "workflow.redrive": { meaning: "redrive an execution", roles: operators },
  "workflow.configure": { meaning: "create, change or delete a state machine", roles: operators },
  "approval.decide": { meaning: "approve or reject what waits for a person", roles: approvers },
  "schedule.change": { meaning: "pause, resume or trigger a schedule", roles: operators },
  "stream.change": {
    meaning: "rewind or resume a stream's consumer, replay, discard or forget what it has",
    roles: operators,
  },
  "batch.change": { meaning: "start, pause or abort a batch or backfill", roles: operators },
  "outbox.return": { meaning: "put parked announcements back", roles: operators },
  "effect.settle": { meaning: "say what became of an unknown side effect", roles: both },
  "reservation.release": { meaning: "give a reservation or a lease back for its holder", roles: operators },
  "discrepancy.decide": { meaning: "approve or dismiss a repair", roles: approvers },
  "operation.run": { meaning: "plan and run an operation", roles: operators },
  "operation.approve": { meaning: "approve an operation that needs a second person", roles: approvers },
  "operation.abort": { meaning: "pause or abort an operation", roles: both },
  "service.deploy": { meaning: "deploy, roll back, scale or stop a service", roles: operators },
  "service.output": { meaning: "read what instances of services print", roles: both },
  "alarm.test": { meaning: "fire an alarm to try its way to people", roles: operators },
  "user.manage": { meaning: "add, change and remove users", roles: admins },
  "key.manage": { meaning: "create and revoke keys", roles: admins },
} as const satisfies Record<string, Permission>;

export type Act = keyof typeof permissions;

export const acts = Object.keys(permissions) as readonly Act[];

export const may = (role: Role, act: Act): boolean =>
  (permissions[act].roles as readonly Role[]).includes(role);

/** Errors: TUNTAS_ACCESS_DENIED. */
export function demand(who: Pick<Who, "name" | "role">, act: Act): void {
  if (may(who.role, act)) return;
  const { meaning, roles } = permissions[act];
  throw accessErrors.error(
    "TUNTAS_ACCESS_DENIED",
    `${who.name} is ${who.role}; to ${meaning} takes ${roles.join(" or ")}`,
    { details: { act, role: who.role } },
  );
}

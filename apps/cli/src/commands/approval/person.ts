// Who acts on an approval: on the command line people say so themselves, and whoever reads the record knows that.
import { approvalErrors, type InboxItem, type Person } from "tuntas/workflow";
import type { Platform } from "tuntas";
import type { Call, OptionSpec } from "../../command.ts";
import { actOptions, actorOf } from "../../session.ts";

export const personOptions: Readonly<Record<string, OptionSpec>> = {
  role: { value: "ROLE", meaning: "a role of whoever acts", multiple: true },
  group: { value: "GROUP", meaning: "a group of whoever acts", multiple: true },
};

export const decisionOptions: Readonly<Record<string, OptionSpec>> = { ...actOptions, ...personOptions };

export const personOf = (call: Call): Person => ({
  name: actorOf(call),
  roles: call.texts("role"),
  groups: call.texts("group"),
});

/** The request of that id. Errors: TUNTAS_APPROVAL_MISSING. */
export async function approvalOf({ workflows }: Platform, id: string, person?: Person): Promise<InboxItem> {
  const found = await workflows.approvals.show(id, person);
  if (found) return found;
  throw approvalErrors.error("TUNTAS_APPROVAL_MISSING", `there is no approval ${id}`);
}

// The supervisor's approval. The case goes on to NEEDS_APPROVAL with the request, and to APPROVED or REJECTED with the
// decision; a grave case needs two supervisors. Whoever asked never signs.
import { approval } from "tuntas/workflow";
import { caseOf, transition } from "../store.ts";
import { caseIds, move } from "./ids.ts";

export const supervisorApproval = approval({
  input: caseIds,
  async request({ caseId }, ctx) {
    const { tx } = ctx;
    const found = await caseOf(tx, caseId);
    await move(ctx, { caseId, name: "requestApproval" });
    const { partyName, jurisdiction, severity, caseNumber, duplicates, requestedBy, reservationId } = found;
    return {
      subject: caseId,
      requestedBy,
      deciders: { roles: ["supervisor"] },
      signatures: severity === "high" ? 2 : 1,
      evidence: { caseId, caseNumber, partyName, jurisdiction, severity, duplicates },
      due: "2d",
      escalation: { after: "3d", to: { roles: ["head-of-enforcement"] } },
      expires: "7d",
      holds: reservationId === null ? [] : [reservationId],
    };
  },
  async decided(tx, { approval: { subject: caseId, signatures }, status }) {
    const last = signatures.at(-1)!;
    const name = status === "approved" ? "approve" : "reject";
    await transition(tx, { caseId, name }, { actor: last.name, reason: last.reason });
  },
});

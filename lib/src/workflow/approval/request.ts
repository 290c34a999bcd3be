// Asking: a step of a workflow writes the request in its own transaction, and the execution waits from that commit on.
import { randomUUID } from "node:crypto";
import { isStorable } from "../../core/text.ts";
import { toMs } from "../../core/duration.ts";
import { renew } from "../../ledger/index.ts";
import { add } from "../../outbox/client.ts";
import type { Runner, Transaction } from "../../pg/join.ts";
import { join } from "../../pg/join.ts";
import type { Deciders, NewApproval } from "./contract.ts";
import { approvalErrors } from "./contract.ts";
import { insertApproval, insertDeciders } from "./store.ts";

/** What was reserved holds this much longer than the request, so that the step after a late yes can still confirm it. */
const holdsLongerMs = 3_600_000;
const signaturesMax = 10;
const evidenceMax = 262_144;

const invalid = (message: string) => approvalErrors.error("TUNTAS_APPROVAL_INVALID", `approval: ${message}`);

const namesOf = ({ people = [], roles = [], groups = [] }: Deciders): readonly string[] => [
  ...people,
  ...roles,
  ...groups,
];

function checkText(name: string, value: unknown): void {
  if (typeof value === "string" && value !== "" && value.length <= 512 && isStorable(value)) return;
  throw invalid(`${name}: expected 1 to 512 characters, got ${JSON.stringify(value)?.slice(0, 60)}`);
}

function checkDeciders(name: string, deciders: Deciders): void {
  const names = namesOf(deciders);
  if (names.length === 0) throw invalid(`${name}: expected at least one person, role or group`);
  for (const each of names) checkText(name, each);
}

/** A request that can never be decided is refused when it is made. */
function check(asked: NewApproval): void {
  const { subject, requestedBy, deciders, signatures = 1, escalation, expires, due } = asked;
  checkText("subject", subject);
  checkText("requestedBy", requestedBy);
  checkDeciders("deciders", deciders);
  if (escalation) checkDeciders("escalation.to", escalation.to);
  if (!Number.isInteger(signatures) || signatures < 1 || signatures > signaturesMax)
    throw invalid(`signatures: expected a whole number from 1 to ${signaturesMax}, got ${signatures}`);
  if (toMs(due, "due") > toMs(expires, "expires"))
    throw invalid(`due: expected at most expires (${expires}), got ${due}`);
  const everybody = [deciders, ...(escalation ? [escalation.to] : [])];
  const isPeopleOnly = everybody.every(({ roles = [], groups = [] }) => roles.length + groups.length === 0);
  const others = new Set(everybody.flatMap(namesOf).filter((name) => name !== requestedBy));
  if (isPeopleOnly && others.size < signatures)
    throw invalid(
      `expected ${signatures} people besides ${requestedBy}, who cannot sign, got ${others.size}`,
    );
  const text = JSON.stringify(asked.evidence ?? null);
  if (text.length > evidenceMax || !isStorable(text))
    throw invalid(`evidence: expected at most ${evidenceMax} characters of JSON, got ${text.length}`);
}

/** Tells those who want to know of it, with the change that it tells of. */
export async function notifyOf(
  tx: Runner,
  { id, notify }: { id: string; notify: NewApproval["notify"] },
  type: string,
): Promise<void> {
  if (notify) await add(tx, { target: notify, key: id, type, payload: JSON.stringify({ approvalId: id }) });
}

/**
 * Writes a request in the step's transaction. Answers its id; undefined where the task had asked before. Errors:
 * TUNTAS_APPROVAL_INVALID, and those of `renew` where what it holds is gone.
 */
export async function requestApproval(
  transaction: Transaction,
  asked: NewApproval,
  tokenHash: Buffer,
): Promise<string | undefined> {
  check(asked);
  const tx = join(transaction);
  const id = randomUUID();
  const made = await insertApproval(tx, asked, { id, tokenHash });
  if (!made) return undefined;
  await insertDeciders(tx, id, asked.deciders, "request");
  if (asked.escalation) await insertDeciders(tx, id, asked.escalation.to, "escalation");
  for (const reservation of asked.holds ?? [])
    await renew(tx, reservation, `${Math.ceil(made.expiresInMs) + holdsLongerMs}ms`);
  await notifyOf(tx, { id, notify: asked.notify }, "ApprovalRequested");
  return id;
}

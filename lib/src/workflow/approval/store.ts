// Approvals as rows: one function a transition.
import { inMs } from "../../engine/agenda.ts";
import { statement } from "../../pg/database.ts";
import { ms } from "../../pg/instant.ts";
import type { Runner } from "../../pg/join.ts";
import type { Approval, Deciders, DecisionWord, ListOptions, NewApproval, Signature } from "./contract.ts";
import { toMs } from "../../core/duration.ts";
import { awaitedElsewhere } from "../remote/store.ts";

const columns = `a.id::text, a.workflow, a.task, a.execution_arn as "executionArn", a.token_reference as "tokenReference",
  a.subject, a.requested_by as "requestedBy", a.signatures as "signaturesNeeded", a.evidence, a.holds::text[] as holds, a.guarded,
  a.status, ${ms("a.requested_at")} as "requestedAtMs", ${ms("a.due_at")} as "dueAtMs", ${ms("a.escalate_at")} as "escalateAtMs",
  ${ms("a.escalated_at")} as "escalatedAtMs", ${ms("a.expires_at")} as "expiresAtMs", ${ms("a.ended_at")} as "endedAtMs",
  a.ended_reason as "endedReason", ${ms("a.told_at")} as "toldAtMs", ${ms("(tuntas.now() - a.requested_at)")} as "ageMs",
  a.status = 'pending' and a.due_at <= tuntas.now() as overdue, a.expires_at <= tuntas.now() as lapsed,
  a.notify_kind as "notifyKind", a.notify_name as "notifyName",
  (select coalesce(json_agg(json_build_object('kind', d.kind, 'name', d.name, 'via', d.via, 'sinceMs', ${ms("d.since")},
     'active', d.since <= tuntas.now(), 'insteadOf', d.instead_of) order by d.since, d.kind, d.name), '[]')
   from tuntas.approval_decider d where d.approval_id = a.id) as deciders,
  (select coalesce(json_agg(json_build_object('name', s.name, 'decision', s.decision, 'reason', s.reason,
     'signedAtMs', ${ms("s.signed_at")}) order by s.signed_at, s.name), '[]')
   from tuntas.approval_signature s where s.approval_id = a.id) as marks`;

type Row = Omit<Approval, "evidence" | "signatures" | "signaturesMissing" | "waiting"> & {
  readonly tokenReference: string;
  readonly evidence: string;
  readonly marks: readonly Signature[];
  readonly lapsed: boolean;
  readonly notifyKind: string | null;
  readonly notifyName: string | null;
};

/** What the room itself knows of a request beside what it shows. */
export interface Kept {
  readonly approval: Approval;
  readonly tokenReference: string;
  /** Past its expiry, whether or not the clock has been by. */
  readonly lapsed: boolean;
  readonly notify: { readonly kind: string; readonly name: string } | undefined;
}

function toKept({ tokenReference, lapsed, notifyKind, notifyName, marks, ...row }: Row): Kept {
  const given = marks.filter(({ decision }) => decision === "approve").length;
  return {
    tokenReference,
    lapsed,
    notify: notifyKind === null ? undefined : { kind: notifyKind, name: notifyName! },
    approval: {
      ...row,
      evidence: JSON.parse(row.evidence),
      signatures: marks,
      signaturesMissing: Math.max(0, row.signaturesNeeded - given),
      waiting: row.status === "pending",
    },
  };
}

const insert = statement(
  `insert into tuntas.approval (id, workflow, task, execution_arn, token_reference, subject, requested_by, signatures, evidence, holds,
     guarded, status, requested_at, due_at, escalate_at, expires_at, notify_kind, notify_name)
   select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10::uuid[], $11, 'pending', tuntas.now(),
     least(tuntas.now() + make_interval(secs => $12::float8), over.at), tuntas.now() + make_interval(secs => $13::float8), over.at, $15, $16
   from (select least(tuntas.now() + make_interval(secs => $14::float8),
     (select min(d.due) from tuntas.workflow_call c join tuntas.workflow_due d on d.execution_id = c.execution_id
        and d.key = 'timeout:' || (c.command::json->>'task') where c.token_hash = $17),
     (select waits_until from tuntas.remote_task where reference = $5)) as at) over
   on conflict (token_reference) do nothing returning id::text, ${ms("expires_at - tuntas.now()")} as "expiresInMs"`,
);

const seconds = (duration: Parameters<typeof toMs>[0] | undefined): number | null =>
  duration === undefined ? null : toMs(duration) / 1000;

/** Undefined where the task has asked before. It is over when the task times out, whatever it was given. */
export async function insertApproval(
  tx: Runner,
  asked: NewApproval,
  { id, tokenHash }: { readonly id: string; readonly tokenHash: Buffer },
): Promise<{ expiresInMs: number } | undefined> {
  const { workflow, task, executionArn, tokenReference, subject, requestedBy, escalation, notify } = asked;
  const evidence = JSON.stringify(asked.evidence ?? null);
  const [row] = await tx.run<{ expiresInMs: number }>(insert, [
    id,
    workflow,
    task,
    executionArn,
    tokenReference,
    subject,
    requestedBy,
    asked.signatures ?? 1,
    evidence,
    asked.holds ?? [],
    asked.guarded ?? false,
    seconds(asked.due),
    seconds(escalation?.after),
    seconds(asked.expires),
    notify?.kind ?? null,
    notify?.name ?? null,
    tokenHash,
  ]);
  return row;
}

const addDeciders = statement(
  `insert into tuntas.approval_decider (approval_id, kind, name, via, since)
   select a.id, d.kind, d.name, $4, coalesce(case when $4 = 'escalation' then a.escalate_at end, tuntas.now())
   from tuntas.approval a, unnest($2::text[], $3::text[]) as d(kind, name) where a.id = $1
   on conflict do nothing`,
);

export async function insertDeciders(
  tx: Runner,
  id: string,
  { people = [], roles = [], groups = [] }: Deciders,
  via: "request" | "escalation",
): Promise<void> {
  const kinds = [...people.map(() => "person"), ...roles.map(() => "role"), ...groups.map(() => "group")];
  await tx.run(addDeciders, [id, kinds, [...people, ...roles, ...groups], via]);
}

const find = statement(`select ${columns} from tuntas.approval a where a.id = $1`);
const lock = statement(`select id from tuntas.approval where id = $1 for update`);

export async function findApproval(sql: Runner, id: string): Promise<Kept | undefined> {
  const [row] = await sql.run<Row & {}>(find, [id]);
  return row && toKept(row);
}

/** The same, and nobody else decides it until the transaction ends. */
export async function lockApproval(tx: Runner, id: string): Promise<Kept | undefined> {
  // Two statements on purpose: the second's snapshot has what the lock was waited for.
  await tx.run(lock, [id]);
  return findApproval(tx, id);
}

const list = statement(
  `select ${columns} from tuntas.approval a
   where ($1::text is null or a.status = $1) and ($2::text is null or a.subject = $2) and ($3::text is null or a.workflow = $3)
     and ($10::text is null or a.execution_arn = $10) and (not $4::boolean or a.due_at <= tuntas.now())
     and ($5::text is null or (a.requested_by <> $5
       and not exists (select from tuntas.approval_signature s where s.approval_id = a.id and s.name = $5)
       and not exists (select from tuntas.approval_decider d where d.approval_id = a.id and d.instead_of = $5)
       and exists (select from tuntas.approval_decider d where d.approval_id = a.id and d.since <= tuntas.now()
         and ((d.kind = 'person' and d.name = $5) or (d.kind = 'role' and d.name = any($6::text[])) or (d.kind = 'group' and d.name = any($7::text[]))))))
   order by a.due_at, a.id limit $8 offset $9`,
);

export async function listApprovals(sql: Runner, options: ListOptions): Promise<Kept[]> {
  const { for: person, overdue = false, status = "pending", subject, workflow } = options;
  const { executionArn, limit = 100, offset = 0 } = options;
  const rows = await sql.run<Row & {}>(list, [
    status === "any" ? null : status,
    subject ?? null,
    workflow ?? null,
    overdue,
    person?.name ?? null,
    person?.roles ?? [],
    person?.groups ?? [],
    limit,
    offset,
    executionArn ?? null,
  ]);
  return rows.map(toKept);
}

const awaited = statement(
  `select u.reference from unnest($1::bytea[], $2::text[]) as u(hash, reference)
   where exists (select from tuntas.workflow_call c where c.token_hash = u.hash) or u.reference in (${awaitedElsewhere})`,
);

/** Those of the references that an execution waits for; the hash is that of the token where we have made it. */
export async function awaitedAmong(
  sql: Runner,
  tokens: readonly { readonly hash: Buffer; readonly reference: string }[],
): Promise<ReadonlySet<string>> {
  const rows = await sql.run<{ reference: string }>(awaited, [
    tokens.map(({ hash }) => hash),
    tokens.map(({ reference }) => reference),
  ]);
  return new Set(rows.map(({ reference }) => reference));
}

const sign = statement(
  `insert into tuntas.approval_signature (approval_id, name, decision, reason, signed_at) values ($1, $2, $3, $4, clock_timestamp() + (tuntas.now() - pg_catalog.now()))`,
);

export const insertSignature = (
  tx: Runner,
  id: string,
  { name, decision, reason }: { name: string; decision: DecisionWord; reason: string },
) => tx.run(sign, [id, name, decision, reason]);

const end = statement(
  `update tuntas.approval set status = $2, ended_at = tuntas.now(), ended_reason = $3 where id = any($1::uuid[]) and status = 'pending' returning id::text`,
);

export const endApprovals = (
  tx: Runner,
  ids: readonly string[],
  { status, reason = null }: { status: Exclude<Approval["status"], "pending">; reason?: string | null },
) => tx.run<{ id: string }>(end, [ids, status, reason]);

const told = statement(`update tuntas.approval set told_at = coalesce(told_at, tuntas.now()) where id = $1`);
export const markTold = (sql: Runner, id: string) => sql.run(told, [id]);

const giveAway = statement(
  `insert into tuntas.approval_decider (approval_id, kind, name, via, since, instead_of) values ($1, 'person', $2, 'delegation', tuntas.now(), $3)
   on conflict (approval_id, kind, name) do update set via = 'delegation', since = excluded.since, instead_of = excluded.instead_of`,
);

export const insertDelegate = (tx: Runner, id: string, { from, to }: { from: string; to: string }) =>
  tx.run(giveAway, [id, to, from]);

const escalate = statement(
  `with moved as (update tuntas.approval set escalated_at = tuntas.now(), escalate_at = least(escalate_at, tuntas.now())
     where id = any($1::uuid[]) and status = 'pending' and escalated_at is null returning id),
   open as (update tuntas.approval_decider d set since = least(d.since, tuntas.now()) from moved m where d.approval_id = m.id and d.via = 'escalation')
   select id::text from moved`,
);

/** Lets those decide whom it is escalated to. */
export const escalateApprovals = (tx: Runner, ids: readonly string[]) =>
  tx.run<{ id: string }>(escalate, [ids]);

const due = statement(
  `select id::text, expires_at <= tuntas.now() as lapsed from tuntas.approval
   where next_at <= tuntas.now() order by next_at limit $1 for update skip locked`,
);

export const takeDueApprovals = (tx: Runner, rowsMax: number) =>
  tx.run<{ id: string; lapsed: boolean }>(due, [rowsMax]);

/** When an approval is next to escalate or to expire. */
export const nextApprovalInstant =
  "(select next_at from tuntas.approval where next_at is not null order by next_at limit 1)";

const next = statement(`select ${inMs(nextApprovalInstant)} as "inMs"`);

export async function nextApprovalMs(sql: Runner): Promise<number | null> {
  const { inMs } = (await sql.run<{ inMs: number | null }>(next))[0]!;
  return inMs === null ? null : Math.max(0, inMs);
}

// The SQL of operations, one function a transition. A slice locks its operation's row first, so that whoever pauses or
// aborts it waits for at most one slice, and a late owner finds its fence gone.
import type { Sql, Tx } from "../pg/contract.ts";
import { statement } from "../pg/database.ts";
import type { ItemResult, Operation, OperationState, RecordedItem } from "./contract.ts";

type Runner = Pick<Sql | Tx, "run">;

export interface OperationRow extends Operation {
  readonly cursor: string | null;
  /** JSON text of what was asked for. */
  readonly request: string;
}

const ms = (column: string) => `date_part('epoch', ${column}) * 1000`;

const sumOf = (outcome: string) =>
  `coalesce((select sum(weight) from tuntas.operation_item i where i.operation_id = o.id and i.outcome = '${outcome}'), 0)::float8`;

const columns = `o.id::text as id, o.key, o.kind, o.selection, o.actor, o.reason, o.state, o.selected::float8 as selected,
  o.per_second as "perSecond", o.decided_by as "decidedBy", ${ms("o.asked_at")} as "askedAtMs", ${ms("o.ended_at")} as "endedAtMs",
  o.failure, o.cursor, o.request, ${["done", "refused", "skipped"].map((outcome) => `${sumOf(outcome)} as ${outcome}`).join(", ")}`;

type Row = Omit<OperationRow, "selection"> & { readonly selection: string };

const toOperation = ({ selection, ...row }: Row): OperationRow => ({
  ...row,
  selection: JSON.parse(selection) as unknown,
});

export interface NewOperation {
  readonly key: string;
  readonly kind: string;
  readonly request: string;
  readonly selection: unknown;
  readonly actor: string;
  readonly reason: string;
  readonly state: OperationState;
  readonly selected: number;
  readonly perSecond: number | null;
}

const insert = statement(
  `insert into tuntas.operation (key, kind, request, selection, actor, reason, state, selected, per_second, asked_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, tuntas.now()) on conflict (key) do nothing returning id::text`,
);

/** The id; undefined where the key is taken. */
export async function insertOperation(tx: Runner, operation: NewOperation): Promise<string | undefined> {
  const { key, kind, request, selection, actor, reason, state, selected, perSecond } = operation;
  const values = [key, kind, request, JSON.stringify(selection), actor, reason, state, selected, perSecond];
  return (await tx.run<{ id: string }>(insert, values))[0]?.id;
}

const byId = statement(`select ${columns} from tuntas.operation o where o.id = $1`);
const byKey = statement(`select ${columns} from tuntas.operation o where o.key = $1`);

export const findOperation = async (sql: Runner, id: string): Promise<OperationRow | undefined> =>
  (await sql.run<Row>(byId, [id])).map(toOperation)[0];

export const findByKey = async (sql: Runner, key: string): Promise<OperationRow | undefined> =>
  (await sql.run<Row>(byKey, [key])).map(toOperation)[0];

const page = statement(
  `select ${columns} from tuntas.operation o
   where ($1::text is null or o.state = $1) and ($2::text is null or o.kind = $2) and ($3::bigint is null or o.id < $3)
   order by o.id desc limit $4`,
);

export interface OperationFilter {
  readonly state?: OperationState | undefined;
  readonly kind?: string | undefined;
  /** Older than this one. */
  readonly before?: string | undefined;
  readonly limit?: number | undefined;
}

export const listOperations = async (
  sql: Runner,
  { state, kind, before, limit = 100 }: OperationFilter,
): Promise<Operation[]> =>
  (await sql.run<Row>(page, [state ?? null, kind ?? null, before ?? null, limit])).map(toOperation);

const items = statement(
  `select number::float8 as number, item, outcome, reason, weight::float8 as weight, ${ms("at")} as "atMs" from tuntas.operation_item
   where operation_id = $1 and number > $2 and ($3::text is null or outcome = $3) order by number limit $4`,
);

export interface ItemFilter {
  readonly outcome?: string | undefined;
  readonly after?: number | undefined;
  readonly limit?: number | undefined;
}

export const listItems = (
  sql: Runner,
  id: string,
  { outcome, after = 0, limit = 100 }: ItemFilter,
): Promise<RecordedItem[]> => sql.run<RecordedItem>(items, [id, after, outcome ?? null, limit]);

const lock = statement(`select state, actor from tuntas.operation where id = $1 for update`);

export const lockOperation = async (
  tx: Runner,
  id: string,
): Promise<{ state: OperationState; actor: string } | undefined> =>
  (await tx.run<{ state: OperationState; actor: string }>(lock, [id]))[0];

const move = statement(
  `update tuntas.operation set state = $2, owner_id = null, lease_until = null, failure = null,
     decided_by = coalesce($3, decided_by),
     ended_at = case when $2 in ('aborted', 'declined') then tuntas.now() end
   where id = $1`,
);

export async function moveOperation(
  tx: Runner,
  id: string,
  change: { readonly state: OperationState; readonly decidedBy: string | null },
): Promise<void> {
  await tx.run(move, [id, change.state, change.decidedBy]);
}

const setRate = statement(`update tuntas.operation set per_second = $2 where id = $1`);

export async function setPerSecond(tx: Runner, id: string, perSecond: number | null): Promise<void> {
  await tx.run(setRate, [id, perSecond]);
}

export interface Claim {
  readonly id: string;
  readonly fence: string;
}

// Nobody holds it, or whoever did has let the lease run out.
/** Operations that run and are in nobody's hands. */
export const waitingOperations = `select from tuntas.operation
  where state = 'running' and (lease_until is null or lease_until < tuntas.now())`;

const claim = statement(
  `update tuntas.operation o set owner_id = $1, fence = o.fence + 1, lease_until = tuntas.now() + make_interval(secs => $3)
   where o.id = (
     select id from tuntas.operation
     where state = 'running' and kind = any($2::text[]) and (lease_until is null or lease_until < tuntas.now())
     order by id limit 1 for update skip locked)
   returning o.id::text as id, o.fence::text as fence`,
);

export const claimOperation = async (
  sql: Runner,
  ownerId: string,
  { kinds, leaseSeconds }: { readonly kinds: readonly string[]; readonly leaseSeconds: number },
): Promise<Claim | undefined> => (await sql.run<Claim>(claim, [ownerId, kinds, leaseSeconds]))[0];

const lockHeld = statement(
  `select cursor, per_second as "perSecond" from tuntas.operation where id = $1 and fence = $2 and state = 'running' for update`,
);

export interface Held {
  readonly cursor: string | null;
  readonly perSecond: number | null;
}

/** The operation, locked; undefined where somebody paused, aborted or took it over. */
export const lockClaim = async (tx: Runner, { id, fence }: Claim): Promise<Held | undefined> =>
  (await tx.run<Held>(lockHeld, [id, fence]))[0];

const fenced = statement(`select 1 from tuntas.operation where id = $1 and fence = $2 for update`);

/** Whether nobody else has taken it over, whatever state it is in. */
export const isHeld = async (tx: Runner, { id, fence }: Claim): Promise<boolean> =>
  (await tx.run(fenced, [id, fence])).length > 0;

const record = statement(
  `insert into tuntas.operation_item (operation_id, number, item, outcome, weight, reason, at)
   select $1, coalesce((select max(number) from tuntas.operation_item where operation_id = $1), 0) + u.number,
     u.item, u.outcome, u.weight, u.reason, tuntas.now()
   from unnest($2::text[], $3::text[], $4::bigint[], $5::text[]) with ordinality as u(item, outcome, weight, reason, number)`,
);
const advance = statement(
  `update tuntas.operation set cursor = $2, failure = null, lease_until = tuntas.now() + make_interval(secs => $3) where id = $1`,
);

const renewText = statement(
  `update tuntas.operation set lease_until = tuntas.now() + make_interval(secs => $3)
   where id = $1 and fence = $2 and state = 'running' returning id`,
);

/** Holds it for longer; false where somebody has stopped it or taken it over. */
export const renewClaim = async (sql: Runner, { id, fence }: Claim, leaseSeconds: number): Promise<boolean> =>
  (await sql.run(renewText, [id, fence, leaseSeconds])).length > 0;

export interface Slice {
  readonly results: readonly ItemResult[];
  readonly cursor: string;
  readonly leaseSeconds: number;
}

/** Writes down what became of a slice, and where the next begins. */
export async function recordSlice(tx: Runner, id: string, slice: Slice): Promise<void> {
  const { results, cursor, leaseSeconds } = slice;
  await tx.run(record, [
    id,
    results.map(({ item }) => item),
    results.map(({ outcome }) => outcome),
    results.map(({ weight = 1 }) => weight),
    results.map(({ reason }) => reason ?? null),
  ]);
  await tx.run(advance, [id, cursor, leaseSeconds]);
}

const end = statement(
  `update tuntas.operation set state = $3, failure = $4, owner_id = null, lease_until = null, ended_at = tuntas.now()
   where id = $1 and fence = $2 and state = 'running' returning id`,
);

/** False where it is held no more. */
export const endOperation = async (
  tx: Runner,
  { id, fence }: Claim,
  [state, failure]: readonly [OperationState, string | null],
): Promise<boolean> => (await tx.run(end, [id, fence, state, failure])).length > 0;

const letGo = statement(
  `update tuntas.operation set owner_id = null, lease_until = null, failure = coalesce($3, failure)
   where id = $1 and fence = $2 and state = 'running'`,
);

/** For whoever comes next; `why` says what it waits for. */
export async function releaseOperation(sql: Runner, { id, fence }: Claim, why?: string): Promise<void> {
  await sql.run(letGo, [id, fence, why ?? null]);
}

const free = statement(
  `update tuntas.operation set owner_id = null, lease_until = null where owner_id = any($1::bigint[]) and state = 'running'`,
);

/** What dead processes carried out is anybody's. */
export async function freeOperations(sql: Runner, processIds: readonly string[]): Promise<void> {
  await sql.run(free, [processIds]);
}

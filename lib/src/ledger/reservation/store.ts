import { statement } from "../../pg/database.ts";
import { ms } from "../../pg/instant.ts";
import type { Runner } from "../../pg/join.ts";
import type { Reservation, ReserveOptions } from "./contract.ts";

const columns = `id::text, kind, resource, unit, holder, state, expires_at <= tuntas.now() as overdue,
  ${ms("expires_at")} as "expiresAtMs"`;

export interface ReservationRow extends Reservation {
  /** Past its expiry, whether or not a sweep has been by. */
  readonly overdue: boolean;
}

const active = `kind = $1 and resource = $2 and state in ('reserved', 'confirmed')`;

const lapseResource = statement(
  `update tuntas.reservation set state = 'expired', expired_at = tuntas.now() where kind = $1 and resource = $2 and state = 'reserved' and expires_at <= tuntas.now()`,
);

/** What has expired of one resource is free at once; its owners are told by the sweep. */
export const lapseOf = (tx: Runner, kind: string, resource: string) =>
  tx.run(lapseResource, [kind, resource]);

const held = statement(`select ${columns} from tuntas.reservation where ${active} and holder = $3`);

export const findHeld = async (
  tx: Runner,
  { kind, resource, holder }: ReserveOptions,
): Promise<ReservationRow | undefined> =>
  (await tx.run<ReservationRow & {}>(held, [kind, resource, holder]))[0];

// Nobody waits: a unit that another transaction is taking is passed over, by its advisory lock.
const reserve = statement(
  `with vacant as materialized (
     select u from generate_series(1, $4::int) u
     where not exists (select from tuntas.reservation r where r.kind = $1 and r.resource = $2 and r.unit = u and r.state in ('reserved', 'confirmed'))
     order by u
   ), locked as materialized (
     select u from vacant
     where pg_try_advisory_xact_lock(hashtextextended('reservation ' || 'tuntas.reservation'::regclass::oid || ' ' || $1::text || chr(31) || $2::text || chr(31) || u, 0))
     limit 1
   ), made as (
     insert into tuntas.reservation (id, kind, resource, unit, holder, state, expires_at, created_at, notify_kind, notify_name)
     select gen_random_uuid(), $1, $2, u, $3, 'reserved', tuntas.now() + make_interval(secs => $5::float8), tuntas.now(), $6, $7 from locked
     on conflict do nothing returning *
   )
   select (select count(*)::int from vacant) as vacant, made.* from (select 1) one left join lateral (select ${columns} from made) made on true`,
);

export interface Taken {
  /** How many units looked free. */
  readonly vacant: number;
  readonly row: ReservationRow | undefined;
}

/** Takes a free unit of the resource. */
export async function takeUnit(tx: Runner, options: ReserveOptions, forMs: number): Promise<Taken> {
  const { kind, resource, holder, capacity = 1, notify } = options;
  const values = [kind, resource, holder, capacity, forMs / 1000, notify?.kind ?? null, notify?.name ?? null];
  const [{ vacant, ...row }] = (await tx.run<{ vacant: number } & ReservationRow>(reserve, values)) as [
    { vacant: number } & ReservationRow,
  ];
  return { vacant, row: row.id === null ? undefined : row };
}

const find = statement(`select ${columns} from tuntas.reservation where id = $1`);

export const findReservation = async (tx: Runner, id: string): Promise<ReservationRow | undefined> =>
  (await tx.run<ReservationRow & {}>(find, [id]))[0];

const moving = `update tuntas.reservation set`;
const still = `where id = $1 and state = 'reserved' and expires_at > tuntas.now() returning ${columns}`;

const confirm = statement(`${moving} state = 'confirmed', confirmed_at = tuntas.now() ${still}`);
const release = statement(`${moving} state = 'released', released_at = tuntas.now() ${still}`);
const renew = statement(
  `${moving} expires_at = greatest(expires_at, tuntas.now() + make_interval(secs => $2::float8)) ${still}`,
);

const one = (rows: ReservationRow[]): ReservationRow | undefined => rows[0];

/** Each answers undefined where the reservation is not in the state that the move starts from. */
export const moves = {
  confirm: async (tx: Runner, id: string) => one(await tx.run<ReservationRow & {}>(confirm, [id])),
  release: async (tx: Runner, id: string) => one(await tx.run<ReservationRow & {}>(release, [id])),
  renew: async (tx: Runner, id: string, forMs: number) =>
    one(await tx.run<ReservationRow & {}>(renew, [id, forMs / 1000])),
};

const lapse = statement(
  `update tuntas.reservation set state = 'expired', expired_at = tuntas.now()
   where id = any(array(select id from tuntas.reservation where state = 'reserved' and expires_at <= tuntas.now() order by expires_at limit $1 for update skip locked))
   returning id`,
);

export const lapseOverdue = async (tx: Runner, rowsMax: number): Promise<number> =>
  (await tx.run(lapse, [rowsMax])).length;

/** Rows for the sweep: overdue, or expired and not told. */
export const overdueReservations = `select from tuntas.reservation where state = 'reserved' and expires_at <= tuntas.now()
  union all select from tuntas.reservation where state = 'expired' and notify_kind is not null and told_at is null`;

const tell = statement(
  `update tuntas.reservation set told_at = tuntas.now()
   where id = any(array(select id from tuntas.reservation where state = 'expired' and notify_kind is not null and told_at is null limit $1 for update skip locked))
   returning id::text, kind, resource, unit, holder, state, ${ms("expires_at")} as "expiresAtMs", notify_kind as "notifyKind", notify_name as "notifyName"`,
);

export interface Untold extends Reservation {
  readonly notifyKind: string;
  readonly notifyName: string;
}

/** Expired reservations whose owners have not been told; they count as told when this transaction commits. */
export const takeUntold = (tx: Runner, rowsMax: number): Promise<Untold[]> =>
  tx.run<Untold & {}>(tell, [rowsMax]);

const list = statement(
  `select * from (
     select ${columns}, ${ms("tuntas.now() - created_at")} as "ageMs" from tuntas.reservation
     where ($1::text is null or kind = $1) and ($2::text is null or holder = $2)) r
   where ($3::text is null or state = $3) and (not $4::boolean or (state = 'reserved' and overdue)) order by "expiresAtMs" limit 1000`,
);

export interface ReservationFilter {
  readonly kind?: string | undefined;
  readonly holder?: string | undefined;
  readonly state?: Reservation["state"] | undefined;
  /** Only those that ran out and that no sweep has seen. */
  readonly overdue?: boolean | undefined;
}

/** Reservations, those that run out first at the top. */
export const listReservations = (
  sql: Runner,
  { kind, holder, state, overdue = false }: ReservationFilter = {},
): Promise<(ReservationRow & { readonly ageMs: number })[]> =>
  sql.run<ReservationRow & { ageMs: number }>(list, [kind ?? null, holder ?? null, state ?? null, overdue]);

// Who can read the rows of which tenant: asked of PostgreSQL's own catalogue, role by role, as it stands now.
import type { Row, Sql } from "../pg/contract.ts";
import { statement } from "../pg/database.ts";

/** `own`: of the tenant whose the transaction is; `all`: of every tenant, whatever a transaction says. */
export type Reach = "own" | "all";

/** A role that may sign in to the database, and what it reads of a table that holds rows of tenants. */
export interface TenantReader {
  readonly table: string;
  readonly role: string;
  /** Whether this report was made as that role: it is the application's, where its DATABASE_URL is used. */
  readonly current: boolean;
  readonly reach: Reach;
  /** Why it reads all, or that a policy keeps it to its own. */
  readonly because: string;
}

// A table holds rows of tenants where one of its policies asks for app.tenant; the bodies of messages are of all tenants, and have none.
// Sources: "Row Security Policies", "CREATE POLICY" (PostgreSQL): permissive policies are joined by or, restrictive ones by and.
const readersText = statement(
  `with policies as (
     select p.polrelid, p.polpermissive, p.polroles, p.polcmd,
       coalesce(pg_get_expr(p.polqual, p.polrelid) like '%app.tenant%', false) as asks
     from pg_policy p
   ), tables as (
     select c.oid, c.oid::regclass::text as name, c.relowner, c.relrowsecurity, c.relforcerowsecurity, c.oid = to_regclass('tuntas.message') as ours
     from pg_class c
     where c.relkind in ('r', 'p') and (c.oid = to_regclass('tuntas.message') or exists (select from policies p where p.polrelid = c.oid and p.asks))
   ), pairs as (
     select t.*, r.rolname, r.rolname = current_user as current, r.rolsuper, r.rolbypassrls,
       pg_has_role(r.oid, t.relowner, 'usage') as owns,
       (select b.rolname from pg_roles b where (b.rolsuper or b.rolbypassrls) and b.oid <> r.oid and pg_has_role(r.oid, b.oid, 'member')
         order by 1 limit 1) as becomes,
       (select coalesce(bool_or(p.polpermissive and not p.asks), false) and not coalesce(bool_or(not p.polpermissive and p.asks), false)
         from policies p where p.polrelid = t.oid and p.polcmd in ('r', '*')
           and (p.polroles = '{0}' or exists (select from unnest(p.polroles) o where pg_has_role(r.oid, o, 'usage')))) as open
     from tables t cross join pg_roles r
     where r.rolcanlogin and has_any_column_privilege(r.oid, t.oid, 'select')
   )
   select name as table, rolname as role, current, case
     when rolsuper then 'it is a superuser'
     when ours then 'it may read the bodies of all messages'
     when rolbypassrls then 'it has BYPASSRLS'
     when becomes is not null then 'it may become ' || becomes || ', which passes by policies'
     when not relrowsecurity then 'row-level security is not enabled'
     when owns and not relforcerowsecurity then 'it owns the table, and row-level security is not forced'
     when open then 'a policy of its own lets it see more' end as because
   from pairs order by 1, 2`,
);

type Found = Row & Pick<TenantReader, "table" | "role" | "current"> & { because: string | null };

/**
 * Roles that cannot read a table at all are left out. Of views only the tables beneath them are looked at, and of a policy that it asks,
 * not what it makes of the answer.
 */
export async function readTenantReaders(sql: Pick<Sql, "run">): Promise<readonly TenantReader[]> {
  const rows = await sql.run<Found>(readersText, []);
  return rows.map(({ table, role, current, because }) => ({
    table,
    role,
    current,
    reach: because === null ? "own" : "all",
    because: because ?? "a policy asks whose the transaction is",
  }));
}

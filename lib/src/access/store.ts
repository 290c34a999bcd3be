// The statements of access: one function a transition.
import { writeAudit } from "../engine/audit.ts";
import type { Sql } from "../pg/contract.ts";
import { statement } from "../pg/database.ts";
import { ms } from "../pg/instant.ts";
import type { Runner } from "../pg/join.ts";
import type {
  AuditEntry,
  AuditFilter,
  AuditRecord,
  Key,
  Payload,
  PayloadKind,
  Role,
  Session,
  User,
} from "./contract.ts";

const insertUserText = statement(
  `insert into tuntas.access_user (name, role, password, created_at, password_set_at)
   values ($1, $2, $3, tuntas.now(), tuntas.now()) on conflict do nothing returning name`,
);

/** False where there is a user of that name. */
export const insertUser = async (sql: Runner, user: { name: string; role: Role; password: string }) =>
  (await sql.run(insertUserText, [user.name, user.role, user.password])).length === 1;

const usersText = statement(
  `select name, role, ${ms("created_at")} as "createdAtMs", ${ms("password_set_at")} as "passwordSetAtMs",
     ${ms("signed_in_at")} as "signedInAtMs" from tuntas.access_user order by name`,
);

export const listUsers = (sql: Runner) => sql.run<User & {}>(usersText);

const lockUsersText = statement("select name, role from tuntas.access_user order by name for update");

/** All users, each kept as it is until the transaction ends. */
export const lockUsers = (tx: Runner) => tx.run<{ name: string; role: Role }>(lockUsersText);

const removeUserText = statement("delete from tuntas.access_user where name = $1");
export const removeUser = (tx: Runner, name: string) => tx.run(removeUserText, [name]);

// Whoever is signed in with the old role or password signs in anew.
const setRoleText = statement(
  `with gone as (delete from tuntas.access_session where user_name = $1)
   update tuntas.access_user set role = $2 where name = $1`,
);
export const setRole = (tx: Runner, name: string, role: Role) => tx.run(setRoleText, [name, role]);

const setPasswordText = statement(
  `with gone as (delete from tuntas.access_session where user_name = $1)
   update tuntas.access_user set password = $2, password_set_at = tuntas.now() where name = $1 returning name`,
);
export const setPassword = async (tx: Runner, name: string, password: string) =>
  (await tx.run(setPasswordText, [name, password])).length === 1;

const passwordText = statement("select password from tuntas.access_user where name = $1");
export const passwordOf = async (sql: Runner, name: string): Promise<string | undefined> =>
  (await sql.run<{ password: string }>(passwordText, [name]))[0]?.password;

// Counted before the password is looked at, so that tries side by side count too. Answers when each window ends.
const tryText = statement(
  `insert into tuntas.access_attempt as a (subject, tries, began_at)
   select s, 1, tuntas.now() from unnest($1::text[]) s order by s
   on conflict (subject) do update set
     tries = case when a.began_at < tuntas.now() - make_interval(secs => $2) then 1 else a.tries + 1 end,
     began_at = case when a.began_at < tuntas.now() - make_interval(secs => $2) then tuntas.now() else a.began_at end
   returning subject, tries, extract(epoch from began_at + make_interval(secs => $2) - tuntas.now())::float8 as "endsInSeconds"`,
);

export interface Tries {
  readonly subject: string;
  readonly tries: number;
  readonly endsInSeconds: number;
}

export const countTry = (sql: Runner, subjects: readonly string[], windowSeconds: number) =>
  sql.run<Tries & {}>(tryText, [subjects, windowSeconds]);

const forgetTriesText = statement(
  "delete from tuntas.access_attempt where subject = $1 or began_at < tuntas.now() - make_interval(secs => $2)",
);
export const forgetTries = (sql: Runner, subject: string, windowSeconds: number) =>
  sql.run(forgetTriesText, [subject, windowSeconds]);

const insertSessionText = statement(
  `with signed as (update tuntas.access_user set signed_in_at = tuntas.now() where name = $2 returning name, role),
   gone as (delete from tuntas.access_session where expires_at < tuntas.now())
   insert into tuntas.access_session (token_hash, user_name, from_address, created_at, seen_at, expires_at)
   select $1, name, $3, tuntas.now(), tuntas.now(), tuntas.now() + make_interval(secs => $4) from signed
   returning user_name as "user", (select role from signed) as role, ${ms("expires_at")} as "expiresAtMs"`,
);

export const insertSession = async (
  sql: Runner,
  { hash, user, from, seconds }: { hash: Buffer; user: string; from: string; seconds: number },
): Promise<Session | undefined> =>
  (await sql.run<Session & {}>(insertSessionText, [hash, user, from, seconds]))[0];

// Written at most once a minute, however many requests a page makes.
const sessionText = statement(
  `with found as (
     select s.user_name, u.role, s.expires_at, s.seen_at from tuntas.access_session s join tuntas.access_user u on u.name = s.user_name
     where s.token_hash = $1 and s.expires_at > tuntas.now() and s.seen_at > tuntas.now() - make_interval(secs => $2)
   ), seen as (
     update tuntas.access_session set seen_at = tuntas.now() where token_hash = $1
       and exists (select from found where found.seen_at < tuntas.now() - interval '1 minute')
   )
   select user_name as "user", role, ${ms("expires_at")} as "expiresAtMs" from found`,
);

export const findSession = async (
  sql: Runner,
  hash: Buffer,
  idleSeconds: number,
): Promise<Session | undefined> => (await sql.run<Session & {}>(sessionText, [hash, idleSeconds]))[0];

const endSessionText = statement(
  "delete from tuntas.access_session where token_hash = $1 returning user_name as name",
);
export const endSession = async (sql: Runner, hash: Buffer): Promise<string | undefined> =>
  (await sql.run<{ name: string }>(endSessionText, [hash]))[0]?.name;

const keyColumns = `id, name, account, scopes, created_by as "createdBy", ${ms("created_at")} as "createdAtMs",
  ${ms("expires_at")} as "expiresAtMs", ${ms("revoked_at")} as "revokedAtMs"`;

type KeyRow = Omit<Key, "scopes"> & { readonly scopes: string };
const toKey = (row: KeyRow): Key => ({ ...row, scopes: JSON.parse(row.scopes) as string[] });

const insertKeyText = statement(
  `insert into tuntas.access_key (id, name, account, scopes, secret_hash, created_by, created_at, expires_at)
   values ($1, $2, $3, $4, $5, $6, tuntas.now(), tuntas.now() + make_interval(secs => $7)) returning ${keyColumns}`,
);

export interface KeyFields {
  readonly id: string;
  readonly name: string;
  readonly account: string;
  readonly scopes: readonly string[];
  readonly secretHash: Buffer;
  readonly createdBy: string;
  readonly lifeSeconds: number | null;
}

export async function insertKey(sql: Runner, key: KeyFields): Promise<Key> {
  const { id, name, account, scopes, secretHash, createdBy, lifeSeconds } = key;
  const values = [id, name, account, JSON.stringify(scopes), secretHash, createdBy, lifeSeconds];
  return toKey((await sql.run<KeyRow & {}>(insertKeyText, values))[0]!);
}

const keysText = statement(`select ${keyColumns} from tuntas.access_key order by created_at, id`);
export const listKeys = async (sql: Runner): Promise<Key[]> =>
  (await sql.run<KeyRow & {}>(keysText)).map(toKey);

const liveKeysText = statement(
  `select ${keyColumns} from tuntas.access_key where revoked_at is null and (expires_at is null or expires_at > tuntas.now())`,
);
export const listLiveKeys = async (sql: Runner): Promise<Key[]> =>
  (await sql.run<KeyRow & {}>(liveKeysText)).map(toKey);

const revokeText = statement(
  `update tuntas.access_key set revoked_at = tuntas.now(), revoked_by = $2 where id = $1 and revoked_at is null returning id`,
);
export const revokeKey = async (sql: Runner, id: string, by: string) =>
  (await sql.run(revokeText, [id, by])).length === 1;

const countText = statement(
  `select (select count(*)::int from tuntas.access_user) as users,
     (select count(*)::int from tuntas.access_key where revoked_at is null and (expires_at is null or expires_at > tuntas.now())) as keys`,
);
export const countAccess = async (sql: Runner): Promise<{ users: number; keys: number }> =>
  (await sql.run<{ users: number; keys: number }>(countText))[0]!;

const secretText = statement(
  `with made as (insert into tuntas.access_secret (secret, created_at) values ($1, tuntas.now()) on conflict do nothing returning secret)
   select secret from made union all select secret from tuntas.access_secret limit 1`,
);
/** The installation's secret; `fresh` becomes it where there is none. */
export const keepSecret = async (sql: Runner, fresh: Buffer): Promise<Buffer | undefined> =>
  (await sql.run<{ secret: Buffer }>(secretText, [fresh]))[0]?.secret;

export const insertAudit = (sql: Runner, { actor, from, action, subject, reason, details }: AuditEntry) =>
  writeAudit(sql, { actor, action, subject, reason: reason ?? null, details: { from, ...details } });

const recordText = statement(
  `select id::text, ${ms("at")} as "atMs", actor, action, subject, reason, details from tuntas.audit
   where id < $1 and ($2::text is null or actor = $2) and ($3::text is null or action = $3) and ($4::text is null or subject = $4)
     and ($5::text is null or position(lower($5) in lower(concat_ws(' ', actor, action, subject, reason))) > 0)
   order by audit.id desc limit $6`,
);

/** The record, the newest act first, before the act `before`. */
export const listRecord = (
  sql: Runner,
  { search, actor, action, subject }: AuditFilter,
  { before, limit }: { before: string; limit: number },
) =>
  sql.run<AuditRecord & {}>(recordText, [
    before,
    actor ?? null,
    action ?? null,
    subject ?? null,
    search ?? null,
    limit,
  ]);

const payloadText = statement(
  "select sensitive, schema from tuntas.access_payload where kind = $1 and name = $2",
);
export async function findPayload(sql: Runner, kind: PayloadKind, name: string): Promise<Payload> {
  const [row] = await sql.run<{ sensitive: string; schema: string | null }>(payloadText, [kind, name]);
  return { sensitive: JSON.parse(row?.sensitive ?? "[]") as string[], schema: row?.schema ?? null };
}

const declareText = statement(
  `insert into tuntas.access_payload as p (kind, name, sensitive, schema)
   select $1, u.name, u.sensitive, u.schema from unnest($2::text[], $3::text[], $4::text[]) u(name, sensitive, schema) order by u.name
   on conflict (kind, name) do update set sensitive = excluded.sensitive, schema = excluded.schema
   where (p.sensitive, p.schema) is distinct from (excluded.sensitive, excluded.schema)`,
);
/** Keeps what code declares; what is as it was is not written again. */
export function declarePayloads(sql: Pick<Sql, "run">, kind: PayloadKind, of: ReadonlyMap<string, Payload>) {
  const payloads = [...of.values()];
  const sensitive = payloads.map((payload) => JSON.stringify(payload.sensitive));
  return sql.run(declareText, [kind, [...of.keys()], sensitive, payloads.map(({ schema }) => schema)]);
}

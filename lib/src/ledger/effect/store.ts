import { statement } from "../../pg/database.ts";
import { ms } from "../../pg/instant.ts";
import type { Runner } from "../../pg/join.ts";
import type { EffectRow, EffectState } from "./contract.ts";

const columns = `id::text, provider, operation, key, request_hash as "requestHash", request, state, final, subject, caller, calls, fence::text,
  deadline <= tuntas.now() as overdue,
  ${ms("tuntas.now() - called_at")} as "calledAgoMs", reference, response, failure_code as "failureCode", failure_message as "failureMessage"`;

export interface Intent {
  readonly provider: string;
  readonly operation: string;
  readonly key: string;
  readonly requestHash: string;
  readonly request: string;
  readonly subject: string | undefined;
  readonly caller: string | undefined;
  readonly holdMs: number;
}

const intend = statement(
  `insert into tuntas.side_effect (provider, operation, key, request_hash, request, subject, caller, state, fence, deadline, created_at, called_at)
   values ($1, $2, $3, $4, $5, $6, $7, 'pending', nextval('tuntas.fence'), tuntas.now() + make_interval(secs => $8::float8), tuntas.now(), tuntas.now())
   on conflict (provider, operation, key) do nothing returning ${columns}`,
);

/** Commits the intent; undefined where the key has a row. */
export async function insertIntent(sql: Runner, intent: Intent): Promise<EffectRow | undefined> {
  const { provider, operation, key, requestHash, request, subject, caller, holdMs } = intent;
  const rows = await sql.run<EffectRow & {}>(intend, [
    provider,
    operation,
    key,
    requestHash,
    request,
    subject ?? null,
    caller ?? null,
    holdMs / 1000,
  ]);
  return rows[0];
}

const find = statement(
  `select ${columns} from tuntas.side_effect where provider = $1 and operation = $2 and key = $3`,
);

export const findEffect = async (
  sql: Runner,
  { provider, operation, key }: Pick<Intent, "provider" | "operation" | "key">,
) => (await sql.run<EffectRow & {}>(find, [provider, operation, key]))[0];

const again = statement(
  `update tuntas.side_effect set state = 'pending', calls = calls + 1, fence = nextval('tuntas.fence'),
     deadline = tuntas.now() + make_interval(secs => $3::float8), called_at = tuntas.now(), completed_at = null,
     caller = coalesce($4, caller), failure_code = null, failure_message = null
   where id = $1 and fence = $2 and state = 'failed' and not final returning ${columns}`,
);

/** Commits the intent to make a failed call again; undefined where somebody else was first. */
export const repeatIntent = async (
  sql: Runner,
  { id, fence }: EffectRow,
  { holdMs, caller }: Pick<Intent, "holdMs" | "caller">,
) => (await sql.run<EffectRow & {}>(again, [id, fence, holdMs / 1000, caller ?? null]))[0];

export interface Settlement {
  readonly state: EffectState;
  readonly final?: boolean;
  readonly response?: string;
  readonly reference?: string | undefined;
  readonly failure?: { readonly code: string; readonly message: string };
  /** Who said so, where it was not the call itself. */
  readonly by?: string;
}

const settle = statement(
  `update tuntas.side_effect set state = $3, final = $4, response = $5, reference = $6, failure_code = $7, failure_message = $8,
     settled_by = $9, completed_at = case when $3 = 'unknown' then null else tuntas.now() end
   where id = $1 and fence = $2 and state in ('pending', 'unknown') returning ${columns}`,
);

/** Writes what became of a call; undefined where it was settled, or repeated, by somebody else. */
export async function settleEffect(
  sql: Runner,
  { id, fence }: Pick<EffectRow, "id" | "fence">,
  settlement: Settlement,
): Promise<EffectRow | undefined> {
  const { state, final = false, response = null, reference = null, failure, by = null } = settlement;
  const rows = await sql.run<EffectRow & {}>(settle, [
    id,
    fence,
    state,
    final,
    response,
    reference,
    failure?.code ?? null,
    failure?.message ?? null,
    by,
  ]);
  return rows[0];
}

const lapse = statement(
  `update tuntas.side_effect set state = 'unknown', failure_code = 'TUNTAS_EFFECT_UNKNOWN', failure_message = 'the caller fell silent between intent and answer'
   where id = any(array(select id from tuntas.side_effect where state = 'pending' and deadline <= tuntas.now() order by deadline limit 100))
     and state = 'pending' returning ${columns}`,
);

/** Calls that fell silent. */
export const overdueEffects = `select from tuntas.side_effect where state = 'pending' and deadline <= tuntas.now()`;

/** Pending calls whose deadline has passed are unknown from now on. */
export const lapseEffects = (sql: Runner): Promise<EffectRow[]> => sql.run<EffectRow & {}>(lapse);

const unknown = statement(
  `select ${columns} from tuntas.side_effect where state in ('pending', 'unknown') and (state = 'unknown' or deadline <= tuntas.now())
     and ($1::text is null or provider = $1) and ($2::text[] is null or subject = any($2) or caller = any($2)) order by side_effect.id limit 100`,
);

export interface UnknownFilter {
  readonly provider?: string;
  /** Subjects, messages or executions. */
  readonly work?: readonly string[];
}

/** Calls of which nobody knows what became, of one provider or of some work, the oldest hundred. */
export const unknownEffects = (sql: Runner, { provider, work }: UnknownFilter = {}): Promise<EffectRow[]> =>
  sql.run<EffectRow & {}>(unknown, [provider ?? null, work ?? null]);

// One process of all asks, soon at first and then ever less often; what was asked about longest ago comes first.
const takeUnknown = statement(
  `update tuntas.side_effect set asked_at = tuntas.now()
   where id = any(array(
     select id from tuntas.side_effect where state = 'unknown' and provider = $1 and operation = any($2::text[])
       and (asked_at is null or asked_at <= tuntas.now() - greatest(interval '4 seconds', least(interval '10 minutes', (tuntas.now() - called_at) / 20)))
     order by asked_at nulls first, id limit 100 for update skip locked))
   returning ${columns}`,
);

/** Unknown calls that it is time to ask about; they count as asked. */
export const takeForAsking = (
  sql: Runner,
  provider: string,
  operations: readonly string[],
): Promise<EffectRow[]> => sql.run<EffectRow & {}>(takeUnknown, [provider, operations]);

const callers = statement(
  `select distinct caller from tuntas.side_effect where state in ('pending', 'unknown') and caller is not null and (state = 'unknown' or deadline <= tuntas.now())
     and ($1::text[] is null or caller = any($1))`,
);

/** The messages and executions that have made such a call, of all or of some. */
export const unknownCallers = async (sql: Runner, among?: readonly string[]): Promise<string[]> =>
  (await sql.run<{ caller: string }>(callers, [among ?? null])).map((row) => row.caller);

const byId = statement(`select ${columns} from tuntas.side_effect where id = $1`);

export const effectById = async (sql: Runner, id: string): Promise<EffectRow | undefined> =>
  (await sql.run<EffectRow & {}>(byId, [id]))[0];

const list = statement(
  `select ${columns} from tuntas.side_effect where ($1::text is null or state = $1) and ($2::text is null or provider = $2)
     and ($3::text is null or subject = $3 or caller = $3) order by side_effect.id desc limit $4`,
);

export interface EffectFilter {
  readonly state?: EffectState | undefined;
  readonly provider?: string | undefined;
  /** A subject, a message or an execution. */
  readonly work?: string | undefined;
  /** 100 by default. */
  readonly rowsMax?: number | undefined;
}

/** Calls, the newest first. */
export const listEffects = (
  sql: Runner,
  { state, provider, work, rowsMax = 100 }: EffectFilter,
): Promise<EffectRow[]> =>
  sql.run<EffectRow & {}>(list, [state ?? null, provider ?? null, work ?? null, rowsMax]);

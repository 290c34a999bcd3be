// The statements of the alarm room: one function a transition.
import type { Tx } from "../pg/contract.ts";
import { statement } from "../pg/database.ts";
import { ms } from "../pg/instant.ts";
import type { Runner } from "../pg/join.ts";
import type { AlarmChange, AlarmDefinition, AlarmOptions, AlarmState } from "./contract.ts";

const definitionsText = statement(`select name, definition from tuntas.alarm order by name`);

export async function readDefinitions(sql: Runner): Promise<AlarmDefinition[]> {
  const rows = await sql.run<{ name: string; definition: string }>(definitionsText);
  return rows.map(({ name, definition }) => ({
    kind: "alarm",
    name,
    options: JSON.parse(definition) as AlarmOptions,
  }));
}

// What is as it was is not written again. What is not declared any more stays until a person removes it: an
// application's processes need not all declare the same.
const declareText = statement(
  `insert into tuntas.alarm as a (name, definition, declared_by, declared_at)
   select n, d, $1, tuntas.now() from unnest($2::text[], $3::text[]) u(n, d) order by n
   on conflict (name) do update set definition = excluded.definition, declared_by = excluded.declared_by, declared_at = excluded.declared_at
     where a.definition <> excluded.definition`,
);

export const declare = (sql: Runner, by: string, definitions: readonly AlarmDefinition[]) =>
  sql.run(declareText, [
    by,
    definitions.map(({ name }) => name),
    definitions.map(({ options }) => JSON.stringify(options)),
  ]);

const removeText = statement(
  `with states as (delete from tuntas.alarm_state where name = $1) delete from tuntas.alarm where name = $1 returning name`,
);
export const removeDefinition = async (sql: Runner, name: string): Promise<boolean> =>
  (await sql.run(removeText, [name])).length === 1;

export interface StateRow {
  readonly name: string;
  readonly subject: string;
  readonly state: AlarmState;
  readonly sinceMs: number;
  readonly value: number | null;
  readonly reason: string;
}

const statesText = statement(
  `select name, subject, state, ${ms("since")} as "sinceMs", value, reason from tuntas.alarm_state order by name, subject`,
);

export const readStates = (sql: Runner) => sql.run<StateRow & {}>(statesText);

const firingOfText = statement(
  `select name, subject, ${ms("since")} as "sinceMs", reason from tuntas.alarm_state where state = 'ALARM' and name = any($1)`,
);

/** What of these is in alarm. */
export const readFiring = (sql: Runner, names: readonly string[]) =>
  sql.run<Pick<StateRow, "name" | "subject" | "sinceMs" | "reason"> & {}>(firingOfText, [names]);

// Only a state that is another one is a change, so that of two processes that evaluate at once one tells of it.
const changeText = statement(
  `with changed as (
     insert into tuntas.alarm_state as s (name, subject, state, since, value, reason)
     select $1, $2, $3, tuntas.now(), $4::float8, $5
     where $3 <> 'OK' or exists (select from tuntas.alarm_state where name = $1 and subject = $2)
     on conflict (name, subject) do update set state = excluded.state, since = excluded.since, value = excluded.value, reason = excluded.reason
       where s.state <> excluded.state
     returning 1
   )
   insert into tuntas.alarm_history (name, subject, previous, state, at, value, reason)
   select $1, $2, $6, $3, tuntas.now(), $4::float8, $5 from changed
   returning ${ms("at")} as "atMs"`,
);

export type NewChange = Omit<AlarmChange, "atMs" | "test">;

const valuesOf = ({ name, subject, state, value, reason, previous }: NewChange) => [
  name,
  subject,
  state,
  value,
  reason,
  previous,
];

/** The instant of the change; undefined where the state is that already. */
export const writeChange = async (tx: Tx, change: NewChange): Promise<number | undefined> =>
  (await tx.run<{ atMs: number }>(changeText, valuesOf(change)))[0]?.atMs;

const testText = statement(
  `insert into tuntas.alarm_history (name, subject, previous, state, at, value, reason, test)
   values ($1, $2, $6, $3, tuntas.now(), $4::float8, $5, true) returning ${ms("at")} as "atMs"`,
);

/** Notes a trial; the alarm's own state stays as it is. */
export const writeTest = async (tx: Tx, change: NewChange): Promise<number> =>
  (await tx.run<{ atMs: number }>(testText, valuesOf(change)))[0]!.atMs;

const historyText = statement(
  `select name, subject, previous, state, ${ms("at")} as "atMs", value, reason, test from tuntas.alarm_history
   where ($1::text is null or name = $1) and ($2::text is null or subject = $2) order by id desc limit $3`,
);

export const readHistory = (
  sql: Runner,
  name: string | undefined,
  subject: string | undefined,
  limit: number,
) => sql.run<AlarmChange & {}>(historyText, [name ?? null, subject ?? null, limit]);

const historyDays = 90;
const forgetText = statement(
  `delete from tuntas.alarm_history where at < tuntas.now() - interval '${historyDays} days'`,
);
export const forgetHistory = (sql: Runner) => sql.run(forgetText);

const firingText = statement(
  `select name, count(*)::float8 as value from tuntas.alarm_state where state = 'ALARM' group by name`,
);
export const countFiring = (sql: Runner) => sql.run<{ name: string; value: number }>(firingText);

// One advance: the next state of an execution, its history, and the rows of what it now waits for, all in one
// statement together with the advances of many other executions. Each item is fenced by its own seq: only those whose
// state is still the one that was decided upon move, and the answer names them.
import type { Sql } from "../../pg/contract.ts";
import { fenced, type Prepared } from "../../engine/handler/transaction.ts";
import { pgArray } from "../../pg/arrays.ts";
import { statement } from "../../pg/database.ts";
import { stepIn } from "./events.ts";

type Runner = Pick<Sql, "run">;

/** What an advance changes beside state and history; kept as JSON so that it is expanded only for those that moved. */
export interface Effects {
  readonly due: readonly { readonly key: string; readonly at: number }[];
  readonly calls: readonly {
    readonly key: string;
    readonly command: string;
    readonly owner: string | null;
    /** Of an own task: the revision whose handlers carry it out. */
    readonly pool: string | null;
    readonly token: string | null;
    readonly activity: string | null;
    readonly heartbeat: number | null;
  }[];
  /** Keys of due rows and calls that are over. */
  readonly over: readonly string[];
  /** Keys of calls that nobody makes any more: only a token or a worker ends them. */
  readonly handedOver: readonly string[];
}

export interface Ending {
  readonly status: string;
  readonly output: string | null;
  readonly error: string | null;
  readonly cause: string | null;
}

export interface Advance {
  readonly executionId: string;
  /** The seq of the state that was decided upon. */
  readonly seq: number;
  readonly state: string;
  /** JSON text of the events and of the step's result, or null where neither is kept. */
  readonly events: string | null;
  /** Of a step that is recorded: the visit of its state, under which whoever does it again finds its result. */
  readonly visit: string | null;
  readonly effects: Effects | undefined;
  readonly ending: Ending | undefined;
  /** Set where a redrive begins the execution anew. */
  readonly redriven?: boolean;
}

export interface NewExecution extends Omit<Advance, "executionId" | "seq" | "visit" | "redriven"> {
  readonly arn: string;
  readonly name: string;
  readonly machineId: string;
  readonly machineArn: string;
  readonly revision: string;
  readonly type: string;
  readonly versionArn: string | null;
  readonly aliasArn: string | null;
  readonly traceHeader: string | null;
  readonly mapRunId: string | null;
  readonly itemIndex: number | null;
  readonly processor: string | null;
  readonly input: string;
  readonly startedAtMs: number;
}

// Every part reads its rows out of `moved` alone: joining it to unnested arrays again would be a nested loop.
const history = `history as (insert into tuntas.execution_history (execution_id, seq, events, visit)
    select id, seq, events, visit from moved where events is not null)`;

const began = `
  due as (insert into tuntas.workflow_due (execution_id, key, due)
    select m.id, d.key, to_timestamp(d.at / 1000.0) from moved m
    cross join lateral json_to_recordset(m.effects->'due') as d(key text, at float8) where m.effects is not null),
  calls as (insert into tuntas.workflow_call (execution_id, key, command, owner_id, pool, token_hash, activity_arn, heartbeat_seconds)
    select m.id, c.key, c.command, c.owner, c.pool, decode(c.token, 'hex'), c.activity, c.heartbeat from moved m
    cross join lateral json_to_recordset(m.effects->'calls')
      as c(key text, command text, owner bigint, pool bigint, token text, activity text, heartbeat int) where m.effects is not null
    on conflict (execution_id, key) do update set command = excluded.command, owner_id = excluded.owner_id, pool = excluded.pool,
      token_hash = excluded.token_hash, heartbeat_seconds = excluded.heartbeat_seconds, started = false)`;

const over = `
   over as (select m.id, o.key from moved m cross join lateral json_array_elements_text(m.effects->'over') as o(key)
     where m.effects is not null),
   undue as (delete from tuntas.workflow_due d using over o where d.execution_id = o.id and d.key = o.key),
   uncalled as (delete from tuntas.workflow_call c using over o where c.execution_id = o.id and c.key = o.key),
   -- Materialized: else the planner reads the calls of each execution first, which costs as much as all the rest.
   handing as materialized (select m.id, h.key from moved m
     cross join lateral json_array_elements_text(m.effects->'handedOver') as h(key) where m.effects is not null),
   handed as (update tuntas.workflow_call c set owner_id = null, pool = null, started = true
     from handing h where c.execution_id = h.id and c.key = h.key)`;

const advanceText = `with moved as (
     update tuntas.execution_state s set seq = i.seq + 1, state = i.state
     from unnest($1::bigint[], $2::int[], $3::text[], $4::text[], $5::text[], $6::json[], $7::text[], $8::text[], $9::text[], $10::text[],
       $11::boolean[]) as i(id, seq, state, events, visit, effects, status, output, error, cause, redriven)
     where s.execution_id = i.id and s.seq = i.seq
     returning i.id, i.seq + 1 as seq, i.events, i.visit, i.effects, i.status, i.output, i.error, i.cause, i.redriven
   ), ${history}, ${began}, ${over},
   ended as (update tuntas.execution e set status = m.status, output = m.output, error = m.error, cause = m.cause,
       stopped_at = greatest(tuntas.now(), e.started_at), redrive_count = e.redrive_count + m.redriven::int,
       redriven_at = case when m.redriven then tuntas.now() else e.redriven_at end from moved m where m.status is not null and e.id = m.id),
   begun as (update tuntas.execution e set status = 'RUNNING', output = null, error = null, cause = null,
       stopped_at = null, redrive_count = redrive_count + 1, redriven_at = tuntas.now()
     from moved m where m.redriven and m.status is null and e.id = m.id),
   ended_due as (delete from tuntas.workflow_due d using moved m
     where m.status is not null and d.execution_id = m.id and not exists (select from over o where o.id = d.execution_id and o.key = d.key)),
   ended_calls as (delete from tuntas.workflow_call c using moved m
     where m.status is not null and c.execution_id = m.id and not exists (select from over o where o.id = c.execution_id and o.key = c.key))`;

// A step that begins nothing and ends nothing but the one before: what nearly every advance of own tasks is.
const stepText = `with moved as (
     update tuntas.execution_state s set seq = i.seq + 1, state = i.state
     from unnest($1::bigint[], $2::int[], $3::text[], $4::text[], $5::text[]) as i(id, seq, state, events, visit)
     where s.execution_id = i.id and s.seq = i.seq
     returning i.id, i.seq + 1 as seq, i.events, i.visit
   ), ${history}`;

// Nearly always all have moved, and then nobody needs to read which.
const whichMoved = `select count(*)::int as count,
  case when count(*) < cardinality($1::bigint[]) then coalesce(array_agg(id::text), '{}') end as ids from moved`;

const advance = statement(`${advanceText} ${whichMoved}`);
const step = statement(`${stepText} ${whichMoved}`);

// A transaction that carries handlers' writes fails with a fence: division by zero where not all have moved.
const orRaise = `select 1 / (case when (select count(*) from moved) = cardinality($1::bigint[]) then 1 else 0 end) as moved`;

const advanceOrRaise = statement(`${advanceText} ${orRaise}`);
const stepsOrRaise = statement(`${stepText} ${orRaise}`);

// An advance alone has no arrays, whose lengths would have the server plan it anew each time, and says only what it
// changes: one statement for all that any advance may change takes half a millisecond, most of it to get ready.
const stepOrRaise = statement(
  `with moved as (
     update tuntas.execution_state set seq = $2::int + 1, state = $3 where execution_id = $1::bigint and seq = $2::int returning 1
   ) insert into tuntas.execution_history (execution_id, seq, events, visit)
     values ($1::bigint, $2::int + 1 / coalesce((select 1 from moved), 0), $4, $5)`,
);
const itsEffects = statement(
  `with moved as (select $1::bigint as id, $2::json as effects), ${began}, ${over} select`,
);
const itsEnding = statement(
  `with undue as (delete from tuntas.workflow_due where execution_id = $1::bigint),
     uncalled as (delete from tuntas.workflow_call where execution_id = $1::bigint)
   update tuntas.execution set status = $2, output = $3, error = $4, cause = $5, stopped_at = greatest(tuntas.now(), started_at) where id = $1::bigint`,
);

type Written = Pick<Advance, "state" | "events" | "effects" | "ending">;

const shared = (items: readonly Written[]) => [
  pgArray.json(items.map((item) => (item.effects ? JSON.stringify(item.effects) : null))),
  pgArray.text(items.map((item) => item.ending?.status ?? null)),
  pgArray.text(items.map((item) => item.ending?.output ?? null)),
  pgArray.text(items.map((item) => item.ending?.error ?? null)),
  pgArray.text(items.map((item) => item.ending?.cause ?? null)),
];

const statesAndEvents = (items: readonly Written[]) => [
  pgArray.text(items.map((item) => item.state)),
  pgArray.text(items.map((item) => item.events)),
];

/** All processes lock executions in one order, so that two flushes do not wait for each other. */
const byId = (a: Advance, b: Advance): number =>
  a.executionId.length - b.executionId.length || (a.executionId < b.executionId ? -1 : 1);

const stepValues = (items: readonly Advance[]): unknown[] => [
  pgArray.bigint(items.map((item) => item.executionId)),
  pgArray.int(items.map((item) => item.seq)),
  ...statesAndEvents(items),
  pgArray.text(items.map((item) => item.visit)),
];

const valuesOf = (items: readonly Advance[]): unknown[] => [
  ...stepValues(items),
  ...shared(items),
  pgArray.bool(items.map((item) => item.redriven ?? false)),
];

/** Whether it changes nothing but state and history. */
export const isStep = ({ effects, ending, redriven }: Advance): boolean => !effects && !ending && !redriven;

/** Which of the executions moved. No execution may be among the items twice; steps go by themselves. */
export async function writeAdvances(
  sql: Runner,
  given: readonly Advance[],
): Promise<(item: Advance) => boolean> {
  const items = given.toSorted(byId);
  const areSteps = isStep(items[0]!);
  const [row] = await sql.run<{ ids: string[] | null }>(
    areSteps ? step : advance,
    areSteps ? stepValues(items) : valuesOf(items),
  );
  const ids = row!.ids && new Set(row!.ids);
  return (item) => ids === null || ids.has(item.executionId);
}

/** A recorded advance alone. */
function aloneOrRaise({ executionId, seq, state, events, visit, effects, ending }: Advance): Prepared[] {
  const prepared = [fenced({ statement: stepOrRaise, values: [executionId, seq, state, events, visit] })];
  if (effects) prepared.push({ statement: itsEffects, values: [executionId, JSON.stringify(effects)] });
  if (!ending) return prepared;
  const { status, output, error, cause } = ending;
  return [...prepared, { statement: itsEnding, values: [executionId, status, output, error, cause] }];
}

/** The same for a transaction of handlers, whose steps are recorded: it divides by zero where one is late. */
export function advancesOrRaise(given: readonly Advance[]): Prepared[] {
  if (given.length === 1) return aloneOrRaise(given[0]!);
  const items = given.toSorted(byId);
  return [
    fenced(
      items.every(isStep)
        ? { statement: stepsOrRaise, values: stepValues(items) }
        : { statement: advanceOrRaise, values: valuesOf(items) },
    ),
  ];
}

const recordOf = statement(
  `select events from tuntas.execution_history where execution_id = $1::bigint and visit = $2`,
);

/** The JSON text that a step had come to before; undefined where it has not been done. */
export async function findRecord(
  sql: Runner,
  executionId: string,
  visit: string,
): Promise<string | undefined> {
  const [row] = await sql.run<{ events: string }>(recordOf, [executionId, visit]);
  return row && stepIn(row.events).result;
}

/** A start is dated by the process's clock, an end by the database's: greatest, so that nothing ends before it began. */
const begin = statement(
  `with item as (
     select i.* from unnest($1::text[], $2::text[], $3::json[], $4::text[], $5::text[], $6::text[], $7::text[], $8::json[], $9::text[])
       as i(state, events, effects, status, output, error, cause, facts, arn)
   ), made as (
     insert into tuntas.execution (arn, name, machine_id, machine_arn, machine_revision, type, version_arn, alias_arn,
       trace_header, map_run_id, item_index, processor, input, started_at, status, output, error, cause, stopped_at)
     select f.arn, f.name, f."machineId", f."machineArn", f.revision, f.type, f."versionArn", f."aliasArn",
       f."traceHeader", f."mapRunId", f."itemIndex", f.processor, f.input, to_timestamp(f."startedAtMs" / 1000.0),
       coalesce(i.status, 'RUNNING'), i.output, i.error, i.cause,
       case when i.status is not null then greatest(tuntas.now(), to_timestamp(f."startedAtMs" / 1000.0)) end
     from item i cross join lateral json_to_record(i.facts) as f(arn text, name text, "machineId" bigint, "machineArn" text,
       revision bigint, type text, "versionArn" text, "aliasArn" text, "traceHeader" text, "mapRunId" bigint,
       "itemIndex" int, processor text, input text, "startedAtMs" float8)
     on conflict (arn) do nothing returning id, arn
   ), moved as materialized (
     select m.id, 1 as seq, null::text as visit, i.* from item i join made m on m.arn = i.arn
   ), states as (insert into tuntas.execution_state (execution_id, seq, state) select id, seq, state from moved),
   ${history}, ${began}
   select arn, id::text as id from moved`,
);

/** The new ids, in the order of the items; undefined where an execution of that ARN exists (or came before in the list). */
export async function insertExecutions(
  sql: Runner,
  items: readonly NewExecution[],
): Promise<(string | undefined)[]> {
  const first = new Map(items.map((item, index) => [item.arn, index] as const).toReversed());
  const distinct = [...first.values()].map((index) => items[index]!);
  const facts = distinct.map(
    ({ state: _state, events: _events, effects: _effects, ending: _ending, ...rest }) => JSON.stringify(rest),
  );
  const rows = await sql.run<{ arn: string; id: string }>(begin, [
    ...statesAndEvents(distinct),
    ...shared(distinct),
    pgArray.json(facts),
    pgArray.text(distinct.map((item) => item.arn)),
  ]);
  const ids = new Map(rows.map((row) => [row.arn, row.id]));
  return items.map((item, index) => (first.get(item.arn) === index ? ids.get(item.arn) : undefined));
}

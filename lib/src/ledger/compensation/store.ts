import type { Failure } from "../../engine/failure.ts";
import { statement } from "../../pg/database.ts";
import { ms } from "../../pg/instant.ts";
import type { Runner } from "../../pg/join.ts";
import type { CompensationRow } from "./contract.ts";

const columns = `id::text, work, name, key, input, state, attempts, failure_code as "failureCode", failure_message as "failureMessage",
  settled_by as "settledBy", ${ms("tuntas.now() - created_at")} as "ageMs"`;

const insert = statement(
  `insert into tuntas.compensation (work, name, key, input, state, created_at) values ($1, $2, $3, $4, 'registered', tuntas.now())
   on conflict (work, name, key) do nothing returning id::text`,
);

export interface NewCompensation {
  readonly work: string;
  readonly name: string;
  readonly key: string;
  readonly input: string;
}

/** Whether it is new: a step that is done again registers its undo once. */
export const insertCompensation = async (tx: Runner, { work, name, key, input }: NewCompensation) =>
  (await tx.run(insert, [work, name, key, input])).length > 0;

// Strictly the last one: nothing is skipped, whatever it waits for. An update that meets a row lock waits for one short
// statement, and then finds the row as that left it.
const claim = statement(
  `update tuntas.compensation set state = 'running', attempts = attempts + 1, fence = nextval('tuntas.fence'),
     deadline = tuntas.now() + make_interval(secs => $2::float8)
   where id = (select id from tuntas.compensation where work = $1 and state <> 'done' order by compensation.id desc limit 1)
     and (state = 'registered' or (state = 'running' and deadline <= tuntas.now()))
   returning fence::text, ${columns}`,
);

export type Claimed = CompensationRow & { readonly fence: string };

/** Claims what is to be undone next; undefined where that is nothing, or not to be had. */
export const claimLast = async (sql: Runner, work: string, leaseMs: number): Promise<Claimed | undefined> =>
  (await sql.run<Claimed & {}>(claim, [work, leaseMs / 1000]))[0];

const last = statement(
  `select ${columns} from tuntas.compensation where work = $1 and state <> 'done' order by compensation.id desc limit 1`,
);

export const findLast = async (sql: Runner, work: string): Promise<CompensationRow | undefined> =>
  (await sql.run<CompensationRow & {}>(last, [work]))[0];

/** Ends it as done, in the undo's own transaction; divides by zero where it belongs to somebody else by now. */
export const finishCompensation = statement(
  `with done as (
     update tuntas.compensation set state = 'done', completed_at = tuntas.now(), deadline = null, failure_code = null, failure_message = null
     where id = $1 and fence = $2 and state = 'running' returning 1
   ) select 1 / count(*) from done`,
);

const giveBack = statement(
  `update tuntas.compensation set state = case when $3::boolean then 'parked' else 'registered' end, deadline = null,
     failure_code = $4, failure_message = $5
   where id = $1 and fence = $2 and state = 'running' returning ${columns}`,
);

export interface Return {
  readonly park: boolean;
  readonly failure: Failure;
}

/** It was not done: it waits for the next attempt, or for a person. Undefined where it is no longer this attempt's. */
export const returnCompensation = async (
  sql: Runner,
  { id, fence }: Claimed,
  { park, failure }: Return,
): Promise<CompensationRow | undefined> =>
  (await sql.run<CompensationRow & {}>(giveBack, [id, fence, park, failure.code, failure.message]))[0];

const forget = statement(
  `delete from tuntas.compensation where work = $1 and state = 'registered' returning id`,
);

export const forgetRegistered = async (tx: Runner, work: string): Promise<number> =>
  (await tx.run(forget, [work])).length;

const list = statement(
  `select ${columns} from tuntas.compensation where ($1::text is null or work = $1) and ($2::text is null or state = $2)
   order by compensation.id desc limit $3`,
);

export interface CompensationFilter {
  readonly work?: string | undefined;
  readonly state?: CompensationRow["state"] | undefined;
  /** 100 by default. */
  readonly rowsMax?: number | undefined;
}

/** Undos, in the order in which they are run: the newest first. */
export const listCompensations = (
  sql: Runner,
  { work, state, rowsMax = 100 }: CompensationFilter = {},
): Promise<CompensationRow[]> => sql.run<CompensationRow & {}>(list, [work ?? null, state ?? null, rowsMax]);

const unpark = statement(
  `update tuntas.compensation set state = 'registered', attempts = 0 where id = $1 and state = 'parked' returning ${columns}`,
);

export const unparkCompensation = async (tx: Runner, id: string): Promise<CompensationRow | undefined> =>
  (await tx.run<CompensationRow & {}>(unpark, [id]))[0];

const settle = statement(
  `update tuntas.compensation set state = 'done', completed_at = tuntas.now(), settled_by = $2 where id = $1 and state = 'parked' returning ${columns}`,
);

export const settleParked = async (
  tx: Runner,
  id: string,
  by: string,
): Promise<CompensationRow | undefined> => (await tx.run<CompensationRow & {}>(settle, [id, by]))[0];

const byId = statement(`select ${columns} from tuntas.compensation where id = $1`);

export const findCompensation = async (sql: Runner, id: string): Promise<CompensationRow | undefined> =>
  (await sql.run<CompensationRow & {}>(byId, [id]))[0];

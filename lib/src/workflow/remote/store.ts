// Tasks of machines that run elsewhere, as rows: one function a transition. What a step came to is written as statements that
// are handed over, so that they commit with whatever the handler wrote.
import type { Write } from "../../engine/handler/contract.ts";
import type { Row } from "../../pg/contract.ts";
import { statement, type Database } from "../../pg/database.ts";
import type { Runner } from "../../pg/join.ts";
import type { Answer, AnswerFate } from "./contract.ts";
import type { Earlier } from "./state.ts";

export interface TaskRow {
  readonly reference: string;
  readonly workflow: string;
  readonly task: string;
  readonly state: string;
  readonly executionArn: string;
  readonly visit: string;
  readonly redrives: number;
  readonly retries: number;
  readonly token: Buffer;
  readonly answer: Answer | undefined;
  readonly fate: "waiting" | "answered" | "closed";
  /** When the machine stops waiting, as its own clock says. */
  readonly waitsUntilMs: number;
}

// As long as a redrive may come, and the longest that a task may wait for.
const insert = statement(
  `insert into tuntas.remote_task (reference, workflow, task, state, execution_arn, visit, redrives, retries, token, answer, fate,
     waits_until, taken_at, told_at, expires_at)
   values ($1, $2, $3, $4, $5, $6, $7::int, $8::int, case when $11 <> 'closed' then $9::bytea end, $10, $11,
     to_timestamp($12::float8 / 1000), tuntas.now(), case when $11 = 'closed' then tuntas.now() end,
     greatest(to_timestamp($12::float8 / 1000), tuntas.now()) + interval '30 days')`,
);

/** The statement that keeps it. */
export function keeping(database: Pick<Database, "bind">, row: TaskRow): Write {
  const { reference, workflow, task, state, executionArn, visit, redrives, retries, token, answer, fate } =
    row;
  const values = [reference, workflow, task, state, executionArn, visit, redrives, retries, token];
  const { text } = database.bind(insert);
  return {
    text,
    values: [...values, answer === undefined ? null : JSON.stringify(answer), fate, row.waitsUntilMs],
  };
}

const parsed = (answer: string | null): Answer | undefined =>
  answer === null ? undefined : (JSON.parse(answer) as Answer);

const visits = statement(
  `select redrives, retries, answer, fate from tuntas.remote_task where visit = $1 and (redrives, retries) < ($2::int, $3::int)`,
);

/** What came of earlier attempts at the visit. */
export async function findEarlier(
  sql: Runner,
  { visit, redrives, retries }: Pick<TaskRow, "visit" | "redrives" | "retries">,
): Promise<Earlier[]> {
  const rows = await sql.run<Omit<Earlier, "answer"> & { answer: string | null }>(visits, [
    visit,
    redrives,
    retries,
  ]);
  return rows.map((row) => ({ ...row, answer: parsed(row.answer) }));
}

export interface Told {
  readonly workflow: string;
  readonly task: string;
  readonly state: string;
  readonly executionArn: string;
  readonly token: Buffer;
  readonly answer: Answer;
}

const untold = statement(
  `select workflow, task, state, execution_arn as "executionArn", token, answer from tuntas.remote_task
   where reference = $1 and fate = 'answered'`,
);

/** What the machine is to be told; undefined where it has been. */
export async function findUntold(sql: Runner, reference: string): Promise<Told | undefined> {
  const [row] = await sql.run<Omit<Told, "answer"> & { answer: string } & Row>(untold, [reference]);
  return row && { ...row, answer: JSON.parse(row.answer) as Answer };
}

const told = statement(
  `with gone as (update tuntas.remote_task set fate = $2, token = null, told_at = tuntas.now()
     where reference = $1 and fate = 'answered' returning reference)
   update tuntas.approval a set told_at = coalesce(told_at, tuntas.now()) from gone g where a.token_reference = g.reference
   returning a.id::text, a.workflow, a.task`,
);

/** Notes what became of the answer; answers the approval that it was the decision of, if it was one. */
export const markAnswered = async (sql: Runner, reference: string, fate: AnswerFate) =>
  (await sql.run<{ id: string; workflow: string; task: string }>(told, [reference, fate]))[0];

const waiting = `fate = 'waiting' and (waits_until is null or waits_until > tuntas.now())`;

const decide = statement(
  `update tuntas.remote_task set fate = 'answered', answer = $2 where reference = $1 and fate = 'waiting' returning workflow`,
);

/** Answers a task in the caller's transaction, for the machine to judge whether it still waits: its workflow, if it has no answer yet. */
export const decideTask = async (
  tx: Runner,
  reference: string,
  answer: Answer,
): Promise<string | undefined> =>
  (await tx.run<{ workflow: string }>(decide, [reference, JSON.stringify(answer)]))[0]?.workflow;

const isThere = statement(`select from tuntas.remote_task where reference = $1 and ${waiting} for update`);

/** Whether a machine elsewhere waits for that answer; nobody else answers until the transaction ends. */
export const isAwaitedElsewhere = async (tx: Runner, reference: string): Promise<boolean> =>
  (await tx.run(isThere, [reference])).length > 0;

const known = statement(`select from tuntas.remote_task where reference = $1`);

/** Whether the reference is of a machine elsewhere. */
export const isElsewhere = async (sql: Runner, reference: string): Promise<boolean> =>
  (await sql.run(known, [reference])).length > 0;

/** Of references, those that a machine elsewhere waits for; a condition upon `given`. */
export const awaitedElsewhere = `select reference from tuntas.remote_task where reference = any($2::text[]) and ${waiting}`;

const forget = statement(
  `delete from tuntas.remote_task where reference = any(array(select reference from tuntas.remote_task
     where expires_at <= tuntas.now() order by expires_at limit $1)) returning reference`,
);

/** Forgets what no redrive can ask for any more; answers how many. */
export const forgetTasks = async (sql: Runner, limit: number): Promise<number> =>
  (await sql.run(forget, [limit])).length;

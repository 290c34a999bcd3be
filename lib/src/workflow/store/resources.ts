// Rows of activities, and the tags of machines and activities.
import type { Sql, Tx } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";
import { ms } from "../../pg/instant.ts";
import type { ActivityRecord, Page, Scope } from "../contract.ts";
import { activityArn } from "../arn.ts";

type Runner = Pick<Sql | Tx, "run">;

const columns = `arn, name, encryption, ${ms("created_at")} as "createdAtMs"`;

const insert = statement(
  `insert into tuntas.activity (arn, name, encryption, created_at)
   values ($1, $2, $3, tuntas.now()) on conflict do nothing`,
);
const find = statement(`select ${columns} from tuntas.activity where arn = $1`);

export async function findActivity(sql: Runner, arn: string): Promise<ActivityRecord | undefined> {
  const [row] = await sql.run<ActivityRecord>(find, [arn]);
  return row;
}

/** Creates the activity unless it exists; the record as it stands. */
export async function insertActivity(
  sql: Runner,
  scope: Scope,
  name: string,
  encryption: string | undefined,
): Promise<ActivityRecord> {
  const arn = activityArn(scope, name);
  await sql.run(insert, [arn, name, encryption ?? null]);
  return (await findActivity(sql, arn))!;
}

const remove = statement(`delete from tuntas.activity where arn = $1`);
export const removeActivity = (sql: Runner, arn: string) => sql.run(remove, [arn]);

const list = statement(
  `select ${columns} from tuntas.activity where starts_with(arn, $1) order by arn limit $2 offset $3`,
);
export const listActivities = (sql: Runner, scope: Scope, page: Page) =>
  sql.run<ActivityRecord>(list, [activityArn(scope, ""), page.limit, page.offset]);

const tagsOf = statement(`select key, value from tuntas.workflow_tag where arn = $1 order by key`);
export const listTags = (sql: Runner, arn: string) => sql.run<{ key: string; value: string }>(tagsOf, [arn]);

const putTags = statement(
  `insert into tuntas.workflow_tag (arn, key, value) select $1, k, v from unnest($2::text[], $3::text[]) as t(k, v)
   on conflict (arn, key) do update set value = excluded.value`,
);
export const writeTags = (sql: Runner, arn: string, tags: Readonly<Record<string, string>>) =>
  sql.run(putTags, [arn, Object.keys(tags), Object.values(tags)]);

const dropTags = statement(`delete from tuntas.workflow_tag where arn = $1 and key = any($2::text[])`);
export const removeTags = (sql: Runner, arn: string, keys: readonly string[]) =>
  sql.run(dropTags, [arn, keys]);

const dropAll = statement(`delete from tuntas.workflow_tag where arn = $1`);
export const removeAllTags = (sql: Runner, arn: string) => sql.run(dropAll, [arn]);

const secret = statement(`select value from tuntas.workflow_secret`);

/** What task tokens are derived with. */
export async function readSecret(sql: Runner): Promise<Buffer> {
  const [row] = await sql.run<{ value: Buffer }>(secret);
  return row!.value;
}

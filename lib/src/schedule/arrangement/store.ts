// The statements of arrangements and their groups. Whoever puts a schedule into a group keeps its row from being deleted.
import type { Tx } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";
import type { Runner } from "../../pg/join.ts";
import type { Scope } from "../../queue/contract.ts";
import type { Group } from "../contract.ts";
import type { ArrangedRow } from "../settings.ts";
import { ms } from "../../pg/instant.ts";
import { settingColumns } from "../store.ts";

const rowColumns = `${settingColumns}, ${ms("s.paused_at")} as "pausedAtMs", ${ms("s.created_at")} as "createdAtMs",
  ${ms("s.changed_at")} as "changedAtMs"`;

const find = statement(`select ${rowColumns} from tuntas.schedule s where s.name = $1`);

export const findArranged = async (sql: Runner, name: string): Promise<ArrangedRow | undefined> =>
  (await sql.run<ArrangedRow & {}>(find, [name]))[0];

export interface ListFilter {
  readonly group?: string | undefined;
  readonly prefix?: string | undefined;
  readonly enabled?: boolean | undefined;
  /** The place of the page before ends here: group and name. */
  readonly after?: readonly [group: string, name: string] | undefined;
  readonly limit: number;
}

// Each page is read from its beginning on, in the order of the index.
const page = `select ${rowColumns} from tuntas.schedule s
   where s.account = $1 and s.region = $2 and ($3::boolean is null or (s.paused_at is null) = $3)`;
const listAll = statement(
  `${page} and (s.group_name, s.label) > ($5, $6) and starts_with(s.label, $7) order by s.group_name, s.label limit $4`,
);
const listGroup = statement(
  `${page} and s.group_name = $5 and s.label > $6 and s.label >= $7 and s.label < $8 order by s.label limit $4`,
);

/** Behind all that a name may have. */
const behindNames = "~";

/** In the order of groups and names. */
export function listArranged(
  sql: Runner,
  { account, region }: Scope,
  { group, prefix = "", enabled, after = [group ?? "", ""], limit }: ListFilter,
): Promise<ArrangedRow[]> {
  const values = [account, region, enabled ?? null, limit, ...after, prefix];
  return group === undefined
    ? sql.run<ArrangedRow & {}>(listAll, values)
    : sql.run<ArrangedRow & {}>(listGroup, [...values, prefix + behindNames]);
}

const groupColumns = `account, region, name, tags::json as tags, ${ms("created_at")} as "createdAtMs", ${ms("changed_at")} as "changedAtMs"`;

const insertGroup = statement(
  `insert into tuntas.schedule_group (account, region, name, tags) values ($1, $2, $3, $4) on conflict do nothing returning name`,
);

/** False where there is one of that name. */
export const createGroup = async (
  sql: Runner,
  { account, region }: Scope,
  name: string,
  tags: Readonly<Record<string, string>>,
): Promise<boolean> =>
  (await sql.run(insertGroup, [account, region, name, JSON.stringify(tags)])).length === 1;

const readGroup = `select ${groupColumns} from tuntas.schedule_group where account = $1 and region = $2 and name = $3`;
const lookAtGroup = statement(readGroup);
const shareGroup = statement(`${readGroup} for key share`);
const lockGroup = statement(`${readGroup} for update`);

const groupBy =
  (statementOf: ReturnType<typeof statement>) =>
  async (sql: Runner, { account, region }: Scope, name: string): Promise<Group | undefined> =>
    (await sql.run<Group & {}>(statementOf, [account, region, name]))[0];

export const findGroup = groupBy(lookAtGroup);
/** As long as the transaction lasts, the group is not deleted. */
export const keepGroup = groupBy(shareGroup);
export const holdGroup = groupBy(lockGroup);

const listOfGroups = statement(
  `select ${groupColumns} from tuntas.schedule_group
   where account = $1 and region = $2 and starts_with(name, $3) and name > $4 order by name limit $5`,
);

export const listGroups = (
  sql: Runner,
  { account, region }: Scope,
  {
    prefix = "",
    after = "",
    limit,
  }: { readonly prefix?: string; readonly after?: string; readonly limit: number },
): Promise<Group[]> => sql.run<Group & {}>(listOfGroups, [account, region, prefix, after, limit]);

const writeTags = statement(
  `update tuntas.schedule_group set tags = $4, changed_at = tuntas.now() where account = $1 and region = $2 and name = $3`,
);

export const writeGroupTags = (
  tx: Tx,
  { account, region, name }: Group,
  tags: Readonly<Record<string, string>>,
) => tx.run(writeTags, [account, region, name, JSON.stringify(tags)]);

const deleteSchedules = statement(
  `delete from tuntas.schedule where account = $1 and region = $2 and group_name = $3`,
);
const deleteGroup = statement(
  `delete from tuntas.schedule_group where account = $1 and region = $2 and name = $3`,
);

/** With the schedules in it. */
export async function removeGroup(tx: Tx, { account, region, name }: Group): Promise<void> {
  await tx.run(deleteSchedules, [account, region, name]);
  await tx.run(deleteGroup, [account, region, name]);
}

// Rows of machines: the machine, its revisions, versions, aliases and tags.
import type { Sql, Tx } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";
import { ms } from "../../pg/instant.ts";
import { aliasArn, machineArn, versionArn } from "../arn.ts";
import type {
  AliasRecord,
  ExecutionType,
  MachineRecord,
  MachineSettings,
  Page,
  Route,
  Scope,
  VersionRecord,
} from "../contract.ts";

type Runner = Pick<Sql | Tx, "run">;

const machineColumns = `m.id::text as id, m.account, m.region, m.name, m.type, ${ms("m.created_at")} as "createdAtMs"`;
const revisionColumns = `r.id::text as revision, r.revision_id::text as "revisionId", r.definition, r.role_arn as "roleArn",
  r.logging, r.tracing, r.encryption, r.handlers::json as handlers, ${ms("r.created_at")} as "updatedAtMs"`;

type MachineRow = Omit<MachineRecord, "arn"> & Scope;

const toMachine = ({ account, region, ...row }: MachineRow): MachineRecord => ({
  ...row,
  arn: machineArn({ account, region }, row.name),
});

const latest = `select ${machineColumns}, ${revisionColumns} from tuntas.machine m
  cross join lateral (select * from tuntas.machine_revision r where r.machine_id = m.id order by r.id desc limit 1) r`;

const find = statement(`${latest} where m.account = $1 and m.region = $2 and m.name = $3`);

export async function findMachine(
  sql: Runner,
  { account, region }: Scope,
  name: string,
): Promise<MachineRecord | undefined> {
  const [row] = await sql.run<MachineRow>(find, [account, region, name]);
  return row && toMachine(row);
}

const list = statement(`${latest} where m.account = $1 and m.region = $2 order by m.name limit $3 offset $4`);

export const listMachines = async (sql: Runner, { account, region }: Scope, page: Page) =>
  (await sql.run<MachineRow>(list, [account, region, page.limit, page.offset])).map(toMachine);

const atRevision = statement(
  `select ${machineColumns}, ${revisionColumns}
   from tuntas.machine_revision r join tuntas.machine m on m.id = r.machine_id where r.id = $1`,
);

/** The machine as it was at a revision; undefined once the machine is deleted. */
export async function findRevision(sql: Runner, revision: string): Promise<MachineRecord | undefined> {
  const [row] = await sql.run<MachineRow>(atRevision, [revision]);
  return row && toMachine(row);
}

export type RevisionText = Pick<MachineRecord, "definition" | "handlers">;

const revisionText = statement(
  `select definition, handlers::json as handlers from tuntas.machine_revision where id = $1`,
);

export async function findDefinition(sql: Runner, revision: string): Promise<RevisionText | undefined> {
  const [row] = await sql.run<RevisionText>(revisionText, [revision]);
  return row;
}

const withHandlers = statement(
  `select id::text as revision, handlers::json as handlers from tuntas.machine_revision
   where machine_id = $1 and handlers is not null`,
);

/** The revisions of a machine that an application declared, with the functions that its handlers carry out. */
export const listHandlers = (sql: Runner, machineId: string) =>
  sql.run<{ revision: string; handlers: readonly string[] }>(withHandlers, [machineId]);

// An insert takes a number even where the row is there, and applications declare their machines at each start.
const insert = statement(
  `insert into tuntas.machine (account, region, name, type, created_at)
   select $1, $2, $3, $4, tuntas.now()
   where not exists (select from tuntas.machine m where m.account = $1 and m.region = $2 and m.name = $3)
   on conflict do nothing returning id::text`,
);

/** The new machine's id, or undefined where one of that name exists. */
export async function insertMachine(
  sql: Runner,
  { account, region }: Scope,
  name: string,
  type: ExecutionType,
): Promise<string | undefined> {
  const [row] = await sql.run<{ id: string }>(insert, [account, region, name, type]);
  return row?.id;
}

const insertRevisionText = statement(
  `insert into tuntas.machine_revision (machine_id, revision_id, definition, role_arn, logging, tracing, encryption, handlers, created_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, tuntas.now())`,
);

export const insertRevision = (
  sql: Runner,
  machineId: string,
  revisionId: string | null,
  settings: MachineSettings,
) =>
  sql.run(insertRevisionText, [
    machineId,
    revisionId,
    settings.definition,
    settings.roleArn,
    settings.logging ?? null,
    settings.tracing ?? null,
    settings.encryption ?? null,
    settings.handlers ? JSON.stringify(settings.handlers) : null,
  ]);

const lock = statement(`select id from tuntas.machine where id = $1 for update`);

/** Keeps the machine from changing until the transaction ends. */
export const lockMachine = (sql: Runner, id: string) => sql.run(lock, [id]);

const remove = statement(`delete from tuntas.machine where id = $1`);

/** Removes the machine; its revisions stay for the executions that run them. */
export const removeMachine = (sql: Runner, id: string) => sql.run(remove, [id]);

type VersionRow = Omit<VersionRecord, "arn">;
const versionColumns = `v.number, v.machine_revision::text as revision, v.description, ${ms("v.created_at")} as "createdAtMs"`;
const toVersion = (machine: MachineRecord, row: VersionRow): VersionRecord => ({
  ...row,
  arn: versionArn(machine.arn, row.number),
});

const versions = statement(
  `select ${versionColumns} from tuntas.machine_version v
   where v.machine_id = $1 and v.deleted_at is null order by v.number desc limit $2 offset $3`,
);

export const listVersions = async (sql: Runner, machine: MachineRecord, page: Page) =>
  (await sql.run<VersionRow>(versions, [machine.id, page.limit, page.offset])).map((row) =>
    toVersion(machine, row),
  );

const version = statement(
  `select ${versionColumns} from tuntas.machine_version v
   where v.machine_id = $1 and v.number = $2 and v.deleted_at is null`,
);

export async function findVersion(sql: Runner, machine: MachineRecord, number: number) {
  const [row] = await sql.run<VersionRow>(version, [machine.id, number]);
  return row && toVersion(machine, row);
}

const publish = statement(
  `insert into tuntas.machine_version as v (machine_id, number, machine_revision, description, created_at)
   select $1, coalesce(max(number), 0) + 1, $2, $3, tuntas.now() from tuntas.machine_version where machine_id = $1
   returning ${versionColumns}`,
);

export async function insertVersion(sql: Runner, machine: MachineRecord, description: string | undefined) {
  const [row] = await sql.run<VersionRow>(publish, [machine.id, machine.revision, description ?? null]);
  return toVersion(machine, row!);
}

const removeVersionText = statement(
  `update tuntas.machine_version set deleted_at = tuntas.now() where machine_id = $1 and number = $2`,
);

export const removeVersion = (sql: Runner, machineId: string, number: number) =>
  sql.run(removeVersionText, [machineId, number]);

type AliasRow = Omit<AliasRecord, "arn" | "routes"> & { readonly routing: string };
const aliasColumns = `a.name, a.description, a.routing, ${ms("a.created_at")} as "createdAtMs", ${ms("a.updated_at")} as "updatedAtMs"`;
const toAlias = (machine: MachineRecord, { routing, ...row }: AliasRow): AliasRecord => ({
  ...row,
  arn: aliasArn(machine.arn, row.name),
  routes: JSON.parse(routing) as Route[],
});

const aliases = statement(
  `select ${aliasColumns} from tuntas.machine_alias a where machine_id = $1 order by created_at, name limit $2 offset $3`,
);

export const listAliases = async (sql: Runner, machine: MachineRecord, page: Page) =>
  (await sql.run<AliasRow>(aliases, [machine.id, page.limit, page.offset])).map((row) =>
    toAlias(machine, row),
  );

const alias = statement(
  `select ${aliasColumns} from tuntas.machine_alias a where machine_id = $1 and name = $2`,
);

export async function findAlias(sql: Runner, machine: MachineRecord, name: string) {
  const [row] = await sql.run<AliasRow>(alias, [machine.id, name]);
  return row && toAlias(machine, row);
}

const insertAliasText = statement(
  `insert into tuntas.machine_alias as a (machine_id, name, description, routing, created_at, updated_at)
   values ($1, $2, $3, $4, tuntas.now(), tuntas.now()) on conflict do nothing returning ${aliasColumns}`,
);

export interface AliasSettings {
  readonly description?: string | undefined;
  readonly routes?: readonly Route[] | undefined;
}

export async function insertAlias(
  sql: Runner,
  machine: MachineRecord,
  name: string,
  { description, routes }: AliasSettings,
) {
  const values = [machine.id, name, description ?? null, JSON.stringify(routes)];
  const [row] = await sql.run<AliasRow>(insertAliasText, values);
  return row && toAlias(machine, row);
}

const updateAliasText = statement(
  `update tuntas.machine_alias a set description = coalesce($3, description), routing = coalesce($4, routing),
     updated_at = tuntas.now() where machine_id = $1 and name = $2 returning ${aliasColumns}`,
);

export async function updateAlias(
  sql: Runner,
  machine: MachineRecord,
  name: string,
  { description, routes }: AliasSettings,
) {
  const values = [machine.id, name, description ?? null, routes ? JSON.stringify(routes) : null];
  const [row] = await sql.run<AliasRow>(updateAliasText, values);
  return row && toAlias(machine, row);
}

const removeAliasText = statement(`delete from tuntas.machine_alias where machine_id = $1 and name = $2`);

export const removeAlias = (sql: Runner, machineId: string, name: string) =>
  sql.run(removeAliasText, [machineId, name]);

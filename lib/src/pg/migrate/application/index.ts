// Migrations of an application: its own tables, in a schema of its own, from plain numbered SQL files. Each runs once, in a
// transaction of its own under a lock that all processes share, with limits on how long it may wait and take.
import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import type pg from "pg";
import { toMs } from "../../../core/duration.ts";
import { statementsOf } from "../../../core/sql-text.ts";
import { pgErrors } from "../../contract.ts";
import type { Database } from "../../database.ts";
import { checksumOf, oneByOne } from "../lock.ts";
import type { File, Judge, Migrations, Plan, Ran } from "./contract.ts";
import { missingOf, pendingOf, refuseControl } from "./state.ts";
import { processesBefore, readApplied, workOn, writeApplied } from "./store.ts";

const schemaForm = /^[a-z_][a-z0-9_]{0,62}$/;

export type { Judge, Migrations, Pending, Plan, Ran, Verdict } from "./contract.ts";

/** What of the database this needs. */
type Place = Pick<Database, "dedicatedClient" | "run" | "transaction">;

export interface Tell {
  /** Told of each file when it has run. */
  readonly onRan?: (ran: Ran) => void;
  /** Runs what takes something away although processes of the version before are alive. */
  readonly whileRunning?: boolean;
  /** What changes of these tables say: `changes.judge` of the platform. */
  readonly judge?: (schema: string) => Promise<Judge>;
}

async function pathsIn(folder: URL): Promise<string[]> {
  try {
    const path = fileURLToPath(folder);
    const names = (await readdir(path)).filter((name) => name.endsWith(".sql"));
    return names.toSorted().map((name) => join(path, name));
  } catch (cause) {
    throw pgErrors.error(
      "TUNTAS_MIGRATION_FOLDER",
      `expected migrations.folder to be the URL of a folder, got ${String(folder)}: ${(cause as Error).message}`,
      { cause },
    );
  }
}

/** Migrations with their files. */
interface Read {
  readonly migrations: Migrations;
  readonly files: readonly File[];
}

async function read(migrations: Migrations): Promise<Read> {
  const { folder, schema } = migrations;
  if (!schemaForm.test(schema))
    throw pgErrors.error(
      "TUNTAS_MIGRATION_SCHEMA",
      `expected a schema's name in lower case, got ${JSON.stringify(schema)}`,
    );
  const files = await Promise.all(
    (await pathsIn(folder)).map(async (path) => {
      const text = await readFile(path, "utf8");
      return { name: basename(path), text, checksum: checksumOf(text), statements: statementsOf(text) };
    }),
  );
  return { migrations, files };
}

async function planOf(database: Place, { migrations: { schema }, files }: Read): Promise<Plan> {
  const applied = await database.transaction(({ client }) => readApplied(client, schema));
  const missing = missingOf(files, applied);
  refuseControl(missing);
  const [first] = missing;
  const alive = first ? await processesBefore(database, schema, first.name) : [];
  return { schema, pending: missing.map(pendingOf), alive };
}

/** What would run, and who would notice; changes nothing. Errors: as of `runMigrations`. */
export const planMigrations = async (database: Place, migrations: Migrations): Promise<Plan> =>
  planOf(database, await read(migrations));

function refuseDestructive({ pending, alive }: Plan): void {
  const file = pending.find(({ destructive }) => destructive.length > 0);
  if (!file || alive.length === 0) return;
  throw pgErrors.error(
    "TUNTAS_MIGRATION_DESTRUCTIVE",
    `${file.name} takes away what may be in use (${file.destructive[0]}) while ${alive.join(", ")} ${alive.length === 1 ? "is" : "are"} alive; nothing has run`,
    { details: { file: file.name, statements: file.destructive, alive } },
  );
}

/** The plan without what nobody needs any more. Errors: TUNTAS_MIGRATION_DESTRUCTIVE. */
function judged(plan: Plan, judge: Judge): Plan {
  const pending = plan.pending.map((file) => {
    const verdicts = file.statements.map((statement) => ({ statement, verdict: judge(statement) }));
    const refused = verdicts.find(({ verdict }) => verdict?.free === false);
    if (refused)
      throw pgErrors.error(
        "TUNTAS_MIGRATION_DESTRUCTIVE",
        `${file.name}: ${refused.statement}: ${refused.verdict!.why}; nothing has run`,
        { details: { file: file.name, statements: [refused.statement] } },
      );
    const free = verdicts.filter(({ verdict }) => verdict).map(({ statement }) => statement);
    return { ...file, destructive: file.destructive.filter((each) => !free.includes(each)) };
  });
  return { ...plan, pending };
}

/** What PostgreSQL says where a limit was reached: no lock in time, no end in time. */
const limits: Readonly<Record<string, string>> = {
  "55P03": "waited too long for a lock",
  "57014": "took too long",
};

function failureOf({ name }: File, cause: unknown): unknown {
  const { code = "", message, position } = cause as { code?: string; message: string; position?: string };
  const limit = limits[code];
  const where = position === undefined ? "" : ` at character ${position}`;
  return limit === undefined
    ? pgErrors.error("TUNTAS_MIGRATION_FAILED", `${name}: ${message} (${code})${where}`, { cause })
    : pgErrors.error("TUNTAS_MIGRATION_LIMIT", `${name}: a statement ${limit}`, { cause });
}

async function runFile(client: pg.Client, file: File, migrations: Migrations): Promise<Ran> {
  const { schema, lockTimeout = "5s", statementTimeout = "5m" } = migrations;
  const begunAt = performance.now();
  await client.query(
    `set local lock_timeout = ${toMs(lockTimeout, "migrations: lockTimeout")}; set local statement_timeout = ${toMs(statementTimeout, "migrations: statementTimeout")}`,
  );
  try {
    await client.query(`create schema if not exists ${schema}`);
    await client.query(file.text);
  } catch (cause) {
    throw failureOf(file, cause);
  }
  const ran = { name: file.name, ms: performance.now() - begunAt };
  await writeApplied(client, schema, { ...ran, checksum: file.checksum });
  return ran;
}

async function runMissing(
  database: Place,
  { migrations, files }: Read,
  { onRan, judge, whileRunning = false }: Tell,
): Promise<Ran[]> {
  const { schema } = migrations;
  const made = await planOf(database, { migrations, files });
  const plan = judge && made.pending.length > 0 ? judged(made, await judge(schema)) : made;
  if (!whileRunning) refuseDestructive(plan);
  const all: Ran[] = [];
  for (const { name } of plan.pending) {
    const ran = await oneByOne(database, `${schema} migrate`, async (client) => {
      // Another process may have run it since.
      const file = missingOf(files, await readApplied(client, schema)).find((each) => each.name === name);
      return file && runFile(client, file, migrations);
    });
    if (!ran) continue;
    all.push(ran);
    onRan?.(ran);
  }
  return all;
}

/**
 * Runs what is missing, file by file; one that fails leaves nothing behind, and those before it stay. Errors:
 * TUNTAS_MIGRATION_FOLDER, TUNTAS_MIGRATION_CHANGED, TUNTAS_MIGRATION_SCHEMA, TUNTAS_MIGRATION_CONTROL and
 * TUNTAS_MIGRATION_DESTRUCTIVE before anything has run, TUNTAS_MIGRATION_FAILED, TUNTAS_MIGRATION_LIMIT.
 */
export const runMigrations = async (
  database: Place,
  migrations: Migrations,
  tell: Tell = {},
): Promise<Ran[]> => runMissing(database, await read(migrations), tell);

/** Errors: TUNTAS_MIGRATION_PENDING. */
async function refusePending(database: Place, of: Read): Promise<void> {
  const { schema, pending } = await planOf(database, of);
  if (pending.length === 0) return;
  throw pgErrors.error(
    "TUNTAS_MIGRATION_PENDING",
    `the tables in ${schema} lack ${pending.map(({ name }) => name).join(", ")}`,
  );
}

/** What a process does at its start: brings the tables up to date, or sees that they are, and works on them until it leaves. */
export async function beginMigrated(
  database: Place,
  migrations: Migrations,
  tell: Tell,
): Promise<() => Promise<void>> {
  const of = await read(migrations);
  if (migrations.run === "apart") await refusePending(database, of);
  else await runMissing(database, of, tell);
  const last = of.files.at(-1)?.name ?? null;
  return workOn(database, migrations.schema, last);
}

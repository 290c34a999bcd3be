// The SQL of commands and their runs. A run's operation is locked before its own row.
import type { JobResult } from "../../core/job-result.ts";
import type { Tx } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";
import { ms } from "../../pg/instant.ts";
import type { Runner } from "../../pg/join.ts";
import type { CommandReport, CommandRun, Policy } from "./contract.ts";

const declareText = statement(
  `insert into tuntas.operation_command (name, digest, policy, owner, runbook) values ($1, $2, $3, $4, $5)
   on conflict (name) do update set digest = $2, policy = $3, owner = $4, runbook = $5`,
);

export async function declareCommand(tx: Runner, { policy, ...of }: CommandReport): Promise<void> {
  await tx.run(declareText, [of.name, of.digest, JSON.stringify(policy), of.owner, of.runbook]);
}

const commandColumns = `name, digest, policy, owner, runbook`;
type CommandRow = Omit<CommandReport, "policy"> & { readonly policy: string };
const toCommand = ({ policy, ...row }: CommandRow): CommandReport => ({
  ...row,
  policy: JSON.parse(policy) as Policy,
});

const allText = statement(`select ${commandColumns} from tuntas.operation_command order by name`);
// Locked, so that of two who ask for the same at once the second sees the first one's run.
const lockText = statement(
  `select ${commandColumns} from tuntas.operation_command where name = $1 for update`,
);

export const readCommands = async (sql: Runner): Promise<CommandReport[]> =>
  (await sql.run<CommandRow>(allText)).map(toCommand);

export const lockCommand = async (tx: Tx, name: string): Promise<CommandReport | undefined> =>
  (await tx.run<CommandRow>(lockText, [name])).map(toCommand)[0];

export interface NewRun extends Pick<
  CommandRun,
  "id" | "command" | "digest" | "arguments" | "dryRun" | "approver" | "timeoutMs"
> {
  readonly requestHash: string;
}

const insertText = statement(
  `insert into tuntas.operation_command_run (operation_id, command, digest, arguments, request_hash, dry_run, approver, timeout_ms)
   values ($1, $2, $3, $4, $5, $6, $7, $8)`,
);

export async function insertRun(tx: Tx, run: NewRun): Promise<void> {
  const { id, command, digest, requestHash, dryRun, approver, timeoutMs } = run;
  const given = JSON.stringify(run.arguments);
  await tx.run(insertText, [id, command, digest, given, requestHash, dryRun, approver, timeoutMs]);
}

const runColumns = `o.id::text as id, r.command, r.digest, r.arguments, r.dry_run as "dryRun", o.state, o.actor, o.reason, r.approver,
  o.decided_by as "decidedBy", r.attempts, r.timeout_ms::float8 as "timeoutMs", o.failure, r.result, r.invariant, r.evidence,
  r.closed_by as "closedBy", ${ms("o.asked_at")} as "askedAtMs", ${ms("r.begun_at")} as "begunAtMs",
  ${ms("o.ended_at")} as "endedAtMs", ${ms("r.closed_at")} as "closedAtMs"`;
const runs = `tuntas.operation_command_run r join tuntas.operation o on o.id = r.operation_id`;

type Stored = "arguments" | "result" | "invariant";
type RunRow = Omit<CommandRun, Stored> & Record<Stored, string | null>;
const parsed = (text: string | null) => (text === null ? null : (JSON.parse(text) as never));
const toRun = (row: RunRow): CommandRun => ({
  ...row,
  arguments: parsed(row.arguments)!,
  result: parsed(row.result),
  invariant: parsed(row.invariant),
});

const byId = statement(`select ${runColumns} from ${runs} where r.operation_id = $1`);

export const findRun = async (sql: Runner, id: string): Promise<CommandRun | undefined> =>
  (await sql.run<RunRow>(byId, [id])).map(toRun)[0];

const pageText = statement(
  `select ${runColumns} from ${runs} where ($1::text is null or r.command = $1) and (not $2 or (r.closed_at is null and not r.dry_run and o.state <> 'declined'))
   order by r.operation_id desc limit $3`,
);

export interface RunFilter {
  readonly command?: string | undefined;
  /** Only those that were applied and that nobody has closed. */
  readonly open?: boolean | undefined;
  readonly limit?: number | undefined;
}

export const readRuns = async (
  sql: Runner,
  { command, open = false, limit = 100 }: RunFilter,
): Promise<CommandRun[]> => (await sql.run<RunRow>(pageText, [command ?? null, open, limit])).map(toRun);

const sameText = statement(
  `select ${runColumns} from ${runs} where r.request_hash = $1 and r.dry_run = $2 and o.state = any($3::text[])
   order by r.operation_id desc limit 1`,
);

/** The latest run of the same request in one of the states. */
export const findSame = async (
  sql: Runner,
  hash: string,
  { dryRun, states }: { readonly dryRun: boolean; readonly states: readonly CommandRun["state"][] },
): Promise<CommandRun | undefined> => (await sql.run<RunRow>(sameText, [hash, dryRun, states])).map(toRun)[0];

const hashText = statement(
  `select request_hash as hash from tuntas.operation_command_run where operation_id = $1`,
);

export const hashOf = async (sql: Runner, id: string): Promise<string> =>
  (await sql.run<{ hash: string }>(hashText, [id]))[0]!.hash;

const beginText = statement(
  `update tuntas.operation_command_run set attempts = attempts + 1, begun_at = coalesce(begun_at, tuntas.now())
   where operation_id = $1 returning attempts, request_hash as "requestHash", ${ms("begun_at")} as "begunAtMs"`,
);

export interface Begun {
  readonly attempts: number;
  readonly requestHash: string;
  readonly begunAtMs: number;
}

export const beginRun = async (sql: Runner, id: string): Promise<Begun> =>
  (await sql.run<Begun>(beginText, [id]))[0]!;

const giveBackText = statement(
  `update tuntas.operation_command_run set attempts = attempts - 1 where operation_id = $1 and result is null and attempts > 0`,
);

/** An attempt that nothing was wrong with does not count. */
export const giveBackAttempt = (sql: Runner, id: string) => sql.run(giveBackText, [id]);

const nowText = statement(`select ${ms("tuntas.now()")} as now`);
export const nowMs = async (sql: Runner): Promise<number> =>
  (await sql.run<{ now: number }>(nowText))[0]!.now;

const concludeText = statement(
  `update tuntas.operation_command_run set result = $2, output = $3, invariant = $4 where operation_id = $1 and result is null`,
);

export interface Conclusion {
  readonly result: JobResult;
  readonly output: string | null;
  readonly invariant: readonly string[] | null;
}

export async function concludeRun(
  tx: Runner,
  id: string,
  { result, output, invariant }: Conclusion,
): Promise<void> {
  await tx.run(concludeText, [id, JSON.stringify(result), output, invariant && JSON.stringify(invariant)]);
}

const outputText = statement(`select output from tuntas.operation_command_run where operation_id = $1`);

export const readOutput = async (sql: Runner, id: string): Promise<string | null> =>
  (await sql.run<{ output: string | null }>(outputText, [id]))[0]?.output ?? null;

const closeText = statement(
  `update tuntas.operation_command_run set evidence = $2, invariant = coalesce(invariant, $3), closed_by = $4, closed_at = tuntas.now()
   where operation_id = $1 and closed_at is null returning operation_id`,
);

/** False where somebody has closed it. */
export const closeRun = async (
  tx: Runner,
  id: string,
  {
    evidence,
    invariant,
    by,
  }: { readonly evidence: string; readonly invariant: string | null; readonly by: string },
): Promise<boolean> =>
  (await tx.run(closeText, [id, evidence, invariant === null ? null : JSON.stringify(invariant), by]))
    .length > 0;

const roleText = statement(
  `select rolsuper or rolbypassrls or rolcreaterole as "mayAll", r.rolname = session_user as "isOurs", pg_has_role(session_user, r.oid, 'member') as "isMember"
   from pg_roles r where r.rolname = $1`,
);

export interface RoleFacts {
  readonly mayAll: boolean;
  /** It is the one that workers connect as. */
  readonly isOurs: boolean;
  readonly isMember: boolean;
}

export const findRole = async (sql: Runner, name: string): Promise<RoleFacts | undefined> =>
  (await sql.run<RoleFacts & {}>(roleText, [name]))[0];

const gaugeText = statement(
  `select c.name as command,
     count(*) filter (where o.state = 'awaiting_approval')::float8 as waiting,
     count(*) filter (where o.state not in ('awaiting_approval', 'declined'))::float8 as unclosed,
     count(*) filter (where o.state <> 'declined' and (
       o.asked_at < tuntas.now() - interval '1 day'
       or (o.state = 'running' and r.begun_at < tuntas.now() - 2 * make_interval(secs => r.timeout_ms / 1000.0))))::float8 as overdue
   from tuntas.operation_command c
   left join tuntas.operation_command_run r on r.command = c.name and r.closed_at is null and not r.dry_run
   left join tuntas.operation o on o.id = r.operation_id group by c.name`,
);

export interface RunCounts {
  readonly command: string;
  /** For approval. */
  readonly waiting: number;
  readonly unclosed: number;
  readonly overdue: number;
}

export const countRuns = (sql: Runner): Promise<RunCounts[]> => sql.run<RunCounts & {}>(gaugeText);

// A ledger of cases that lost entries, and a command that books them again: what was booked twice shows.
import { randomUUID } from "node:crypto";
import { app, command, start, type CommandOptions, type RunningApp } from "../../index.ts";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import type { CommandDefinition, RunRequest } from "./contract.ts";

const specs = {
  caseId: { type: "text", pattern: "case-\\d+", meaning: "the case" },
  tenant: { type: "choice", of: ["acme", "globex"], meaning: "whose it is" },
} as const;
type Options = CommandOptions<typeof specs>;

export const ada = { actor: "ada", reason: "ticket 7", role: "operator" } as const;
export const grace = { actor: "grace", reason: "the dry run is as it should be" };
export const given = { caseId: "case-1", tenant: "acme" };

export async function openOffice() {
  const kit: TestPlatform = await testPlatform();
  const { schema, platform } = kit;
  const running: RunningApp[] = [];
  const roles: string[] = [];
  const sql = (text: string, values: unknown[] = []) =>
    platform.database.transaction(async ({ client }) => (await client.query(text, values)).rows);
  await sql(
    `create table ${schema}.event (id serial primary key, case_id text not null, amount integer not null)`,
  );
  await sql(`create table ${schema}.entry (event_id integer primary key, booked integer not null default 1)`);
  await sql(`insert into ${schema}.event (case_id, amount) select 'case-1', n from generate_series(1, 10) n`);

  /** A role that may do what the repair needs, and nothing else. */
  async function newRole(): Promise<string> {
    const role = `case_repair_${randomUUID().slice(0, 8)}`;
    roles.push(role);
    await sql(`create role ${role} nologin`);
    await sql(`grant usage on schema ${schema} to ${role}`);
    await sql(`grant select on ${schema}.event, ${schema}.entry to ${role}`);
    await sql(`grant insert on ${schema}.entry to ${role}`);
    return role;
  }

  const options = (databaseRole: string): Options => ({
    does: "Books the entries that a case has lost, from its events.",
    purpose: "data repair",
    scope: "entries of one case",
    arguments: specs,
    async run({ caseId }, { tx }) {
      const { rows } = await tx.query(
        `insert into ${schema}.entry (event_id) select id from ${schema}.event where case_id = $1
         on conflict do nothing returning event_id`,
        [caseId],
      );
      return { recordsRead: rows.length, recordsWritten: rows.length, output: rows };
    },
    databaseRole,
    mayRun: { operator: { tenant: ["acme"] }, admin: "any" },
    timeout: "30s",
    destructive: true,
    rollback: "delete the entries whose ids the output has",
    success: {
      measure: "the case's balance is the sum of its events",
      async check({ caseId }, { tx }) {
        const { rows } = await tx.query(
          `select id from ${schema}.event where case_id = $1 and id not in (select event_id from ${schema}.entry)`,
          [caseId],
        );
        return rows.map(({ id }) => `event ${id} has no entry`);
      },
    },
    twice: "entries have their event's id as their key",
    owner: "case-team",
    runbook: "runbooks/case-ledger.md",
  });

  /** Declared, and carried out here. */
  async function declare(more: Partial<Options> = {}): Promise<CommandDefinition<typeof specs>> {
    const of = command(`repair-${randomUUID().slice(0, 8)}`, {
      ...options(more.databaseRole ?? (await newRole())),
      ...more,
    });
    await serve(of);
    return of;
  }

  async function serve(of: CommandDefinition<typeof specs>, on = platform): Promise<RunningApp> {
    const one = await start(app({ of }), { platform: on });
    running.push(one);
    return one;
  }

  /** To its end, or to where it waits for a person. */
  async function run({ name }: CommandDefinition<typeof specs>, more: Partial<RunRequest> = {}) {
    const { run: asked } = await platform.commands.run(name, { ...ada, arguments: given, ...more });
    await platform.operations.settled(asked.id);
    return platform.commands.get(asked.id);
  }

  return {
    kit,
    platform,
    schema,
    sql,
    declare,
    serve,
    run,
    newRole,
    options,
    booked: async () => (await sql(`select event_id from ${schema}.entry`)).length,
    async close() {
      for (const one of running) await one.stop();
      for (const role of roles) await sql(`drop owned by ${role}`).then(() => sql(`drop role ${role}`));
      await kit[Symbol.asyncDispose]();
    },
  };
}

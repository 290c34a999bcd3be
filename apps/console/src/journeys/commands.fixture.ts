// A shop's one-off command, tried out and asked for.
import { randomUUID } from "node:crypto";
import { app, command, start, type Platform } from "tuntas";

export async function openCommands(platform: Platform): Promise<AsyncDisposable> {
  const { schema } = platform.database;
  const role = `case_repair_${randomUUID().slice(0, 8)}`;
  const sql = (text: string) => platform.database.transaction(({ client }) => client.query(text));
  await sql(`create table ${schema}.entry (id integer primary key, cents integer not null)`);
  await sql(`create role ${role} nologin`);
  await sql(`grant usage on schema ${schema} to ${role}`);
  await sql(`grant select, insert on ${schema}.entry to ${role}`);
  const repair = command("repair-case-ledger", {
    does: "Books the entries that a case has lost, from its events.",
    purpose: "data repair",
    scope: "entries of one case",
    arguments: { caseId: { type: "text", pattern: "case-[0-9]+", meaning: "the case" } },
    async run(_, { tx }) {
      await tx.query(`insert into ${schema}.entry select n, 100 from generate_series(1, 40) n`);
      const warnings = ["2 events are void and have no entry"];
      return { recordsRead: 42, recordsWritten: 40, recordsSkipped: 2, warnings, output: { entries: 40 } };
    },
    databaseRole: role,
    mayRun: { operator: "any" },
    timeout: "10m",
    destructive: true,
    rollback: "delete the entries that the output lists",
    success: { measure: "the case's balance is the sum of its events", check: () => [] },
    twice: "an entry has its event's id as its key",
    owner: "case-team",
    runbook: "runbooks/case-ledger.md",
  });
  const running = await start(app({ repair }), { platform });
  const request = {
    arguments: { caseId: "case-98211" },
    actor: "ada",
    reason: "ticket 7",
    role: "operator",
  } as const;
  const dry = await platform.commands.run(repair.name, request);
  await platform.operations.settled(dry.run.id);
  await platform.commands.run(repair.name, { ...request, apply: true, approver: "local" });
  return {
    async [Symbol.asyncDispose]() {
      await running.stop();
      await sql(`drop owned by ${role}`);
      await sql(`drop role ${role}`);
    },
  };
}

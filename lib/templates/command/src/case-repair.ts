// A script that somebody runs in production, with everything said beforehand: who may, upon what, as which role, how it is proved.
import { app, command } from "tuntas";

export const caseRepair = command("case-repair", {
  does: "Books the entries that a case has lost, from its events.",
  purpose: "data repair",
  scope: "entries of one case",
  arguments: { caseId: { type: "text", pattern: "case-[0-9]+", meaning: "the case" } }, // anything else is refused

  // Its writes, its result and its end are one commit; in a dry run all of it is taken back.
  async run({ caseId }, { tx }) {
    const { rows } = await tx.query(
      `insert into case_repair.entry select id, cents from case_repair.event where case_id = $1
       on conflict do nothing returning event_id::int as id, cents`,
      [caseId],
    );
    return { recordsRead: rows.length, recordsWritten: rows.length, output: rows };
  },

  databaseRole: "case_repair", // may do what the repair needs, and nothing else
  mayRun: { operator: "any", admin: "any" },
  timeout: "10m",
  destructive: true, // takes a dry run, and another person
  rollback: "delete the entries that the output lists",
  success: {
    measure: "each event of the case has its entry",
    async check({ caseId }, { tx }) {
      const { rows } = await tx.query(
        `select id from case_repair.event left join case_repair.entry on event_id = id
         where case_id = $1 and event_id is null`,
        [caseId],
      );
      return rows.map(({ id }) => `event ${id} has no entry`);
    },
  },
  twice: "an entry has its event's id as its key: the second run finds nothing to do",
  owner: "case-repair-team",
  runbook: "runbooks/case-repair.md",
});

export default app(
  { caseRepair },
  { migrations: { schema: "case_repair", folder: new URL("../migrations/case-repair/", import.meta.url) } },
);

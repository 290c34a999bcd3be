// A process that carries out the runs of a command until it is killed at the step that it was told, or, at -1, until the run has
// ended. Arguments: step, url, schema, role, the run where there is one already.
import { writeSync } from "node:fs";
import pg from "pg";
import { stepping, watchWrites } from "../../engine/stepwise.fixture.mjs";
import { app, command, start } from "../../../dist/index.js";
import { openPlatform } from "../../../dist/platform.js";

const [step, databaseUrl, schema, databaseRole, known] = process.argv.slice(2);
const repair = command("repair", {
  does: "Books what was lost.",
  purpose: "data repair",
  scope: "all entries",
  arguments: {},
  async run(_, { tx }) {
    await tx.query(`insert into ${schema}.entry select n, 1 from generate_series(1, 10) n`);
    return { recordsRead: 10, recordsWritten: 10 };
  },
  databaseRole,
  mayRun: { operator: "any" },
  timeout: "60s",
  destructive: false,
  rollback: "delete them",
  success: { measure: "ten", check: () => [] },
  twice: "the second fails on the key",
  owner: "case-team",
  runbook: "r",
});

const platform = await openPlatform({ databaseUrl, schema, name: "command", watches: false });
const { at } = stepping(step);
watchWrites(pg.Client, at, ["operation", "operation_item", "operation_command_run", "entry"]);
const running = await start(app({ repair }), { platform });
const request = {
  arguments: {},
  actor: "ada",
  reason: "ticket 7",
  role: "operator",
  apply: true,
  key: "one",
};
const id = known ?? (await platform.commands.run("repair", request)).run.id;
await platform.operations.settled(id);
if (step === "-1") writeSync(1, id);
await running.stop();
await platform.close();

// The way of a run: tried out, asked for, approved by another, killed in the middle, done once.
import assert from "node:assert/strict";
import { test } from "node:test";
import { start } from "tuntas";
import { testDatabase } from "tuntas/testing";
import work, { caseRepair } from "./case-repair.ts";

const main = new URL("./case-repair.main.js", import.meta.url);
const request = {
  actor: "ana",
  role: "operator",
  reason: "ticket 7",
  arguments: { caseId: "case-1" },
} as const;

test("a dry run changes nothing; approved by another it is done, once, though it is killed", async () => {
  await using database = await testDatabase();
  await using asking = await start(work, { databaseUrl: database.url, workers: false });
  await database.query(
    "insert into case_repair.event values (1, 'case-1', 100), (2, 'case-1', 200), (3, 'case-2', 9)",
  );
  const entries = () =>
    database.query("select event_id::int as id, cents from case_repair.entry order by id");
  const { commands, operations } = asking.platform;
  const first = database.run(main);
  await first.line("service.ready");

  const dry = await commands.run(caseRepair.name, request);
  assert.equal((await operations.settled(dry.run.id)).state, "completed");
  assert.deepEqual(await entries(), []);
  await assert.rejects(commands.run(caseRepair.name, { ...request, arguments: { caseId: "all" } }), {
    code: "TUNTAS_COMMAND_ARGUMENTS",
  });

  const holder = await database.connect();
  await holder.query("begin; lock table case_repair.entry in share mode"); // so that it waits
  const { run } = await commands.run(caseRepair.name, { ...request, apply: true, approver: "ben" });
  await operations.say("approve", run.id, { actor: "ben", reason: "the dry run is right" });
  await first.kill();
  await holder.end();
  database.run(main);
  assert.equal((await operations.settled(run.id)).state, "completed");
  assert.deepEqual(await entries(), [
    { id: 1, cents: 100 },
    { id: 2, cents: 200 },
  ]);
});

// One caller that starts a workflow by a pattern, the relay, the engine and the worker of the workflow's first step, all
// in one process of the real platform, killed at the step that it was told: a write, a commit. Arguments: step, url,
// schema, activity, pattern, the command as JSON.
import pg from "pg";
import { stepping, watchWrites } from "../engine/stepwise.fixture.mjs";
import { once, stepKey } from "../../dist/ledger/index.js";
import { recordStart, startByOutbox, startDirectly, startRecorded } from "../../dist/outbox/index.js";
import { openPlatform } from "../../dist/platform.js";
import { workflowStarter } from "../../dist/workflow/index.js";

const [step, url, schema, activity, pattern, json] = process.argv.slice(2);
const command = JSON.parse(json);
const platform = await openPlatform({ databaseUrl: url, schema, name: "starter" });
const { database, workflows } = platform;
const { at } = stepping(step);
watchWrites(pg.Client, at, ["domain", "command", "workflow_start", "outbox", "execution", "execution_state"]);

const accept = (start) =>
  database.transaction(async (tx) => {
    await tx.client.query(`insert into ${schema}.domain (command_id) values ($1)`, [command.commandId]);
    return start(tx);
  });

async function firstStep() {
  const task = await workflows.activities.task(activity, { waitMs: 30_000 });
  const { commandId } = JSON.parse(task.input);
  await database.transaction((tx) =>
    once(tx, { scope: "start", key: stepKey(commandId, "Record"), request: commandId }, () =>
      tx.client
        .query(
          `insert into ${schema}.domain as d (command_id, steps) values ($1, 1) on conflict (command_id) do update set steps = d.steps + 1`,
          [commandId],
        )
        .then(() => null),
    ),
  );
  await workflows.activities.succeed(task.token, {});
}

const starter = workflowStarter(workflows);
if (pattern === "A") await startDirectly(starter, command);
if (pattern === "B") await accept((tx) => startByOutbox(tx, command));
if (pattern === "C") {
  await accept((tx) => recordStart(tx, command));
  await startRecorded(database, starter, command);
}
await firstStep();
await platform.close();

// A process that declares a schedule and fires it, killed at the step that it was told: a write, a commit. Arguments: step,
// url, schema, name, the target's kind and name.
import pg from "pg";
import { stepping, watchWrites } from "../engine/stepwise.fixture.mjs";
import { openPlatform } from "../../dist/platform.js";
import { schedule } from "../../dist/schedule/index.js";

const [step, databaseUrl, schema, name, kind, target] = process.argv.slice(2);
const platform = await openPlatform({ databaseUrl, schema, name: "scheduler" });
const { at } = stepping(step);
watchWrites(pg.Client, at, ["schedule", "occurrence", "execution"]);
await platform.schedules.declare("test", [
  schedule(name, {
    when: "rate(1 day)",
    timeZone: "UTC",
    overlap: "skip",
    catchUp: { latest: "1d" },
    target: { kind, name: target },
    succeedsWithin: "1h",
    owner: "reports-team",
    runbook: "r",
  }),
]);
await platform.schedules.sweep();
await platform.close();

// A process that arranges a schedule and fires it, killed at the step that it was told: a write, a commit. Arguments: step, url,
// schema, the arrangement as JSON, the token of the request.
import pg from "pg";
import { stepping, watchWrites } from "../../engine/stepwise.fixture.mjs";
import { openPlatform } from "../../../dist/platform.js";

const [step, databaseUrl, schema, arrangement, token] = process.argv.slice(2);
const platform = await openPlatform({ databaseUrl, schema, name: "scheduler" });
const { at } = stepping(Number(step));
watchWrites(pg.Client, at, ["schedule", "occurrence", "command"]);
await platform.schedules.arrangements.create(JSON.parse(arrangement), { by: "aws", token });
await platform.schedules.sweep();
await platform.close();

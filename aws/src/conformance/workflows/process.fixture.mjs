// A process of its own that carries out a workflow's tasks, for the tests that kill it. It says what begins, and does what the
// input says.
import { subscribe } from "node:diagnostics_channel";
import { app, openPlatform, start } from "tuntas";
import { sqs, stepFunctions } from "@tuntas/aws";
import { killed } from "./killed.fixture.mjs";

const { databaseUrl, schema, name, sqs: options } = JSON.parse(process.argv[2]);

// Told in the same turn as the commit: nothing that follows it has left the process.
subscribe("tuntas.workflow.attempt", () => process.kill(process.pid, "SIGKILL"));

const workflow = killed(name, schema, async (id) => {
  process.send({ begun: id });
  if (id.startsWith("hold")) await new Promise(() => undefined);
});
const platform = await openPlatform({ databaseUrl, schema });
const elsewhere = options && { queues: sqs(options), workflows: stepFunctions() };
await start(app({ workflow }), { platform, ...elsewhere });
process.send({ ready: true });

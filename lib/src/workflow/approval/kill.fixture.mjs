// One process in which somebody decides a request, killed at the point that it was told: a write to the database, a commit,
// or the moment between the decision's commit and its callback. Arguments: step, url, schema, the request.
import { subscribe } from "node:diagnostics_channel";
import pg from "pg";
import { stepping, watchWrites } from "../../engine/stepwise.fixture.mjs";
import { app, start, workflow } from "../../../dist/index.js";
import { approval } from "../../../dist/workflow/index.js";

process.env.TUNTAS_LOG_LEVEL = "silent";
const [step, databaseUrl, schema, id] = process.argv.slice(2);
const { at } = stepping(step);
watchWrites(pg.Client, at, ["effect", "approval", "approval_signature", "outbox", "execution_state"]);
subscribe("tuntas.approval.signed", () => at("after the decision, before its callback"));
subscribe("tuntas.approval.told", () => at("after the callback"));

const ask = approval({
  request: () => ({
    subject: "x",
    requestedBy: "ana",
    deciders: { roles: ["supervisor"] },
    due: "2d",
    expires: "7d",
  }),
  decided: (tx, { approval: { id: of } }) =>
    tx.query(`insert into ${schema}.effect (approval) values ($1)`, [of]),
});
const definition = {
  StartAt: "Ask",
  States: {
    Ask: {
      Type: "Task",
      Resource: "arn:aws:states:::lambda:invoke.waitForTaskToken",
      Parameters: { FunctionName: "ask" },
      End: true,
    },
  },
};
const running = await start(app({ asking: workflow("asking", { definition, tasks: { ask } }) }), {
  databaseUrl,
  schema,
});
const { approvals } = running.platform.workflows;
const by = { name: "ben", roles: ["supervisor"] };
await approvals.decide(id, { by, decision: "approve", reason: "fine" });
while ((await approvals.show(id)).toldAtMs === null) await new Promise((resolve) => setTimeout(resolve, 20));
await running.stop();

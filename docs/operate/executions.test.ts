// The commands of the page run as they stand, on an execution that failed and one that is stuck.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { app, openPlatform, start } from "tuntas";
import { workflow } from "tuntas/workflow";
import { blocksOf, openKitchen } from "../recipes/kitchen.fixture.ts";

const command = fileURLToPath(new URL("../../lib/bin/tuntas.mjs", import.meta.url));
const [look, redrive, stop] = blocksOf(new URL("executions.md", import.meta.url), "sh");

const ask = "arn:aws:states:::lambda:invoke.waitForTaskToken";
const refund = workflow("Refund", {
  definition: {
    StartAt: "Which",
    States: {
      Which: {
        Type: "Choice",
        Choices: [{ Variable: "$.stuck", IsPresent: true, Next: "Ask" }],
        Default: "Tell",
      },
      Ask: { Type: "Task", Resource: ask, Parameters: { FunctionName: "ask" }, End: true },
      Tell: { Type: "Task", Resource: "tell", End: true },
    },
  },
  tasks: {
    ask: () => undefined,
    tell() {
      throw new Error("the mail server does not answer");
    },
  },
});

test("docs/operate/executions.md", { timeout: 240_000 }, async () => {
  const kitchen = await openKitchen("executions");
  const platform = await openPlatform({ databaseUrl: kitchen.url });
  const tuntas = `tuntas() { ${JSON.stringify(process.execPath)} ${JSON.stringify(command)} "$@"; }`;
  const shell = async (block: string) => {
    const env = { ...process.env, DATABASE_URL: kitchen.url };
    return (await promisify(execFile)("bash", ["-ec", `${tuntas}\n${block}`], { env })).stdout;
  };
  const execution = async (name: string) =>
    (
      await kitchen.client.query(
        "select status, error, redrive_count from tuntas.execution where name = $1",
        [name],
      )
    ).rows[0];
  try {
    const running = await start(app({ refund }), { platform });
    await refund.start({}, { name: "broken" });
    await refund.start({ stuck: true }, { name: "stuck" });
    await expect.poll(() => execution("broken")).toMatchObject({ status: "FAILED" });
    const shown = await shell(look!);
    for (const text of ["Refund", "broken", "stuck", "the mail server does not answer", "ExecutionFailed"])
      expect(shown).toContain(text);
    expect(await shell(redrive!)).toContain("reconcile first");
    await expect.poll(() => execution("broken")).toMatchObject({ status: "FAILED", redrive_count: 1 });
    await shell(stop!);
    expect(await execution("stuck")).toMatchObject({ status: "ABORTED", error: "Withdrawn" });
    await running.stop();
  } finally {
    await platform.close();
    await kitchen.close();
  }
});

import type { Platform } from "tuntas";
import type { Operation, StartOptions } from "tuntas/operation";
import type { Call, Command } from "../../command.ts";
import { cliErrors } from "../../errors.ts";
import { actorOf, withPlatform } from "../../session.ts";
import { answerOf } from "./report.ts";
import { operationSelection, startOptions } from "./selection.ts";

/** Waits for its end; the first Ctrl-C aborts it, after the slice that runs, a second one ends the process as usual. */
export async function settle({ operations }: Platform, { id, actor }: Operation): Promise<Operation> {
  const interrupt = new AbortController();
  process.once("SIGINT", () => interrupt.abort());
  const operation = await operations.settled(id, interrupt.signal);
  if (operation.state !== "running") return operation;
  return operations.say("abort", id, { actor, reason: "interrupted at the terminal" });
}

export const startOf = (call: Call, kind: string): StartOptions => ({
  kind,
  selection: operationSelection(call, kind),
  actor: actorOf(call),
  reason: call.required("reason"),
  key: call.text("key"),
  expected: call.count("expected", [0, Number.MAX_SAFE_INTEGER]),
  perSecond: call.count("per-second"),
  approval: call.flag("approval"),
  skipForbidden: call.flag("skip-forbidden"),
});

const endsThings = new Set(["reject", "purge"]);

export const operationStart: Command = {
  name: "operation start",
  summary:
    "Does one thing to many: replay, move or reject dead letters, redrive failed executions, purge a queue; on the record.",
  arguments: [{ name: "KIND", required: true }],
  options: {
    ...startOptions,
    background: { meaning: "do not wait for its end; any process of this database carries it out" },
    yes: { meaning: "reject and purge: yes, end them; there is no question" },
  },
  examples: [
    [
      'tuntas operation start redrive --machine ARN --error Timeout --reason "the partner is back" --expected 40',
      "failed executions, as many as the preview showed",
    ],
    [
      'tuntas operation start replay --queue order-work --reason "fixed in 1.4" --approval --background',
      "once another person has approved",
    ],
  ],
  no: "a rule forbids it, nothing was selected, it failed or was aborted (Ctrl-C)",
  async run(call) {
    const kind = call.argument(0);
    const options = startOf(call, kind);
    if (endsThings.has(kind) && !call.flag("yes"))
      throw cliErrors.error(
        "TUNTAS_CLI_UNCONFIRMED",
        `\`tuntas operation start ${kind}\` ends messages for good`,
      );
    return withPlatform(async (platform) => {
      const { status, operation } = await platform.operations.start(options);
      if (status === "conflict")
        throw call.wrong(`--key: it belongs to another request, operation ${operation.id}`);
      return answerOf(call.flag("background") ? operation : await settle(platform, operation));
    });
  },
};

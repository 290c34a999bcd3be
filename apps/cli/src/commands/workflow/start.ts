import { randomUUID } from "node:crypto";
import type { Command } from "../../command.ts";
import { scopeOptions, withPlatform } from "../../session.ts";
import { findMachine } from "./lookup.ts";

export const workflowStart: Command = {
  name: "workflow start",
  summary: "Starts an execution, once for a name.",
  arguments: [{ name: "WORKFLOW", required: true }],
  options: {
    input: { value: "JSON", meaning: "what it is given; {} by default" },
    name: {
      value: "NAME",
      meaning: "its name: a repeat with the same input finds it; a new UUID by default",
    },
    ...scopeOptions,
  },
  examples: [[`tuntas workflow start CaseActivation --name k1 --input '{"caseId":"c1"}'`, "by hand"]],
  no: "the name belongs to another execution",
  run: (call) =>
    withPlatform(async (platform) => {
      const machine = await findMachine(platform, call, call.argument(0));
      const input = call.text("input") ?? "{}";
      try {
        JSON.parse(input);
      } catch {
        throw call.wrong(`--input: expected JSON, got ${JSON.stringify(input)}`);
      }
      const target = { machine, versionArn: null, aliasArn: null };
      const name = call.text("name") ?? randomUUID();
      const started = await platform.workflows.executions.start({ target, name, input });
      return {
        document: started,
        text: `${started.status}: ${started.arn}`,
        status: started.status === "conflict" ? 1 : 0,
      };
    }),
};

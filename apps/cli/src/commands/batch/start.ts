import type { Command } from "../../command.ts";
import { actOf, actOptions, withPlatform } from "../../session.ts";

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

export const batchStart: Command = {
  name: "batch start",
  summary: "Starts a job of a batch; whoever runs the application plans it and works on it.",
  arguments: [{ name: "BATCH", required: true }],
  options: {
    input: { value: "JSON", meaning: "what the job is about; {} by default" },
    key: {
      value: "KEY",
      meaning: "names the job: the same key is the same job; the input's hash by default",
    },
    priority: {
      value: "N",
      meaning: "of jobs that wait, the highest goes first; the batch's own by default",
    },
    ...actOptions,
  },
  examples: [
    [
      `tuntas batch start statements --input '{"month":"2026-03"}' --reason "see ticket 7"`,
      "a second time it says which job there is",
    ],
  ],
  no: "there is no such batch, or the key belongs to a job with another input",
  run(call) {
    const [name, act, input] = [call.argument(0), actOf(call), parsed(call.text("input") ?? "{}")];
    if (!input) throw call.wrong(`--input: expected JSON, got ${call.text("input")}`);
    return withPlatform(async ({ batches }) => {
      const started = await batches.start(name, input.value, {
        ...act,
        key: call.text("key"),
        priority: call.count("priority", [0, 1000]),
      });
      return {
        document: started,
        text: `${started.status} job ${started.jobId}`,
        status: started.status === "conflict" ? 1 : 0,
      };
    });
  },
};

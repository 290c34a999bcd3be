import { settleByHand, type Finding } from "tuntas/ledger";
import type { Call, Command } from "../../command.ts";
import { actOf, actOptions, withPlatform } from "../../session.ts";

const findings = ["succeeded", "absent", "refused"] as const;

function responseOf(call: Call): unknown {
  const text = call.text("response") ?? "null";
  try {
    return JSON.parse(text);
  } catch {
    throw call.wrong(`--response: expected JSON, got ${JSON.stringify(text)}`);
  }
}

function findingOf(call: Call): Finding {
  const state = call.oneOf("as", findings);
  const reference = call.text("reference");
  if (state === "succeeded")
    return { state, response: responseOf(call), ...(reference !== undefined && { reference }) };
  if (state === "refused")
    return { state, code: call.required("code"), message: call.text("message") ?? call.required("reason") };
  if (state === "absent") return { state };
  throw call.wrong(`--as is required: ${findings.join(", ")}`);
}

export const effectSettle: Command = {
  name: "effect settle",
  summary:
    "Says what became of an unknown call, after a look at the provider. Succeeded: the work goes on with this answer. Absent: it is made again. Refused: it never is.",
  arguments: [{ name: "ID", required: true }],
  options: {
    as: { value: "FINDING", meaning: `${findings.join(", ")} (required)` },
    response: {
      value: "JSON",
      meaning: "what the provider answered; the work goes on with it. null by default",
    },
    reference: { value: "TEXT", meaning: "what the provider calls it" },
    code: { value: "CODE", meaning: "why it was refused (with --as refused)" },
    message: { value: "TEXT", meaning: "the same in words" },
    ...actOptions,
  },
  examples: [
    [
      `tuntas effect settle 17 --as succeeded --reference ch_9 --response '{"id":"ch_9"}' --reason "seen in the bank's list"`,
      "it took effect: record it, and let the work go on",
    ],
    ['tuntas effect settle 17 --as absent --reason "the bank has no such charge"', "it may be made again"],
  ],
  no: "there is no such unknown call",
  async run(call) {
    const [id, finding, act] = [call.rowId(0), findingOf(call), actOf(call)];
    return withPlatform(async ({ database }) => {
      const row = await settleByHand(database, id, { ...act, finding });
      return {
        document: row,
        text: `${row.provider} ${row.operation} ${row.key} is ${row.state} from now on`,
      };
    });
  },
};

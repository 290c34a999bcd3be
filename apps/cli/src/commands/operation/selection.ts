// What an operation is to be done to, from the options of a command line; each kind takes its own.
import type { Call, OptionSpec } from "../../command.ts";
import { actorOption, scopeOf } from "../../session.ts";
import { filterOf, filterOptions, operationOptions, selectionOf } from "../dlq/filter.ts";

export const kinds = ["replay", "move", "reject", "redrive", "purge"] as const;

const { "dry-run": _, ...shared } = operationOptions;

export const selectionOptions: Readonly<Record<string, OptionSpec>> = {
  ...filterOptions,
  all: shared.all!,
  limit: shared.limit!,
  to: { value: "QUEUE", meaning: "replay and move: into this queue; back to where each died by default" },
  "effect-checked": {
    meaning: "replay and move: somebody has looked whether the effect of `unknown` outcomes took place",
  },
  as: { value: "CODE", meaning: "reject: the code that they end with; REJECTED_BY_OPERATOR by default" },
  machine: { value: "ARN", meaning: "redrive: the state machine whose executions failed" },
  error: { value: "NAME", meaning: "redrive: only those that failed with this error" },
  reconciled: { meaning: "redrive: what was to be reconciled first has been" },
};

export const startOptions: Readonly<Record<string, OptionSpec>> = {
  ...selectionOptions,
  reason: shared.reason!,
  ...actorOption,
  expected: {
    value: "N",
    meaning: "the count that the preview showed; refused where it has changed by more than a tenth",
  },
  "per-second": { value: "N", meaning: "at most so many a second" },
  approval: { meaning: "wait until another person approves" },
  "skip-forbidden": { meaning: "leave out what a rule forbids, instead of refusing the whole" },
  key: { value: "TEXT", meaning: "the same key is the same operation, however often it is asked for" },
};

function deadLettersOf(call: Call) {
  return { scope: scopeOf(call), filter: selectionOf(call), limit: call.count("limit") };
}

function redriveOf(call: Call) {
  const { sinceMs, untilMs } = filterOf(call);
  return {
    machine: call.required("machine"),
    filter: { error: call.text("error"), sinceMs, untilMs },
    reconciled: call.flag("reconciled"),
  };
}

/** The selection of that kind. Errors: TUNTAS_CLI_USAGE. */
export function operationSelection(call: Call, kind: string): object {
  const terms = { to: call.text("to"), effectChecked: call.flag("effect-checked") };
  switch (kind) {
    case "replay":
      return { ...deadLettersOf(call), ...terms };
    case "reject":
      return { ...deadLettersOf(call), code: call.text("as") };
    case "move":
      return { scope: scopeOf(call), from: call.required("queue"), ...terms };
    case "purge":
      return { scope: scopeOf(call), queue: call.required("queue") };
    case "redrive":
      return redriveOf(call);
    default:
      throw call.wrong(`expected a kind (${kinds.join(", ")}), got ${JSON.stringify(kind)}`);
  }
}

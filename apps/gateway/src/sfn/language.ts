// The operations that need no machine: ValidateStateMachineDefinition and TestState.
import { randomUUID } from "node:crypto";
import { testState as evaluate, validateDefinition, type TestStateRequest } from "tuntas/asl";
import type { ValueOf } from "../shape.ts";
import type { Call, Rooms } from "../wire.ts";
import { constraint, required } from "./errors.ts";
import { checkType } from "./machines.ts";
import type { shapes } from "./shapes.ts";

type Input<Name extends keyof typeof shapes> = ValueOf<(typeof shapes)[Name]>;

const diagnosticsMax = 100;
const severities = ["ERROR", "WARNING"];

function checkSeverity(severity = "ERROR"): void {
  if (!severities.includes(severity))
    throw constraint(severity, "severity", `Member must satisfy enum value set: [${severities.join(", ")}]`);
}

/** How many are told; none means as many as may be. */
function checkDiagnostics(maxResults = 0): number {
  const rule =
    maxResults < 0
      ? "Member must have value greater than or equal to 0"
      : `Member must have value less than or equal to ${diagnosticsMax}`;
  if (maxResults < 0 || maxResults > diagnosticsMax) throw constraint(maxResults, "maxResults", rule);
  return maxResults || diagnosticsMax;
}

export async function validateStateMachineDefinition(_rooms: Rooms, _call: Call, input: Input<"validate">) {
  const type = checkType(input.type);
  checkSeverity(input.severity);
  const found = validateDefinition(required(input.definition, "definition"), type).filter(
    ({ severity }) => severity === "ERROR" || input.severity === "WARNING",
  );
  const limit = checkDiagnostics(input.maxResults);
  const isWrong = found.some(({ severity }) => severity === "ERROR");
  return {
    diagnostics: found.slice(0, limit),
    result: isWrong ? "FAIL" : "OK",
    truncated: found.length > limit,
  };
}

export async function testState({ workflows }: Rooms, call: Call, input: Input<"testState">) {
  required(input.definition, "definition");
  return evaluate(input as TestStateRequest, {
    ...(workflows.next.evaluator && { evaluator: workflows.next.evaluator }),
    nowMs: workflows.nowMs(),
    seed: randomUUID(),
    runTask: async (task) => {
      const handedOver = { output: null };
      const outcome = await workflows.runTask(task, {
        execution: undefined,
        signal: call.waiting(),
        submitted: () => Promise.resolve(),
      });
      return outcome === "handed over" ? handedOver : outcome;
    },
  });
}

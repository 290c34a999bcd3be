// The operations that need no machine: ValidateStateMachineDefinition and TestState.
import { randomUUID } from "node:crypto";
import { testState as evaluate, validateDefinition, type TestStateRequest } from "tuntas/asl";
import type { ValueOf } from "../shape.ts";
import type { Call, Rooms } from "../wire.ts";
import { typeOf } from "./machines.ts";
import type { shapes } from "./shapes.ts";

type Input<Name extends keyof typeof shapes> = ValueOf<(typeof shapes)[Name]>;

const diagnosticsMax = 100;

export async function validateStateMachineDefinition(_rooms: Rooms, _call: Call, input: Input<"validate">) {
  const found = validateDefinition(input.definition, typeOf(input)).filter(
    ({ severity }) => severity === "ERROR" || input.severity === "WARNING",
  );
  // None means as many as may be.
  const limit = input.maxResults || diagnosticsMax;
  const isWrong = found.some(({ severity }) => severity === "ERROR");
  return {
    diagnostics: found.slice(0, limit),
    result: isWrong ? "FAIL" : "OK",
    truncated: found.length > limit,
  };
}

export async function testState({ workflows }: Rooms, call: Call, input: Input<"testState">) {
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

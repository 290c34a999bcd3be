// The thread that evaluates what could run away; whoever started it ends it.
import { parentPort } from "node:worker_threads";
import type { Evaluation } from "../../asl/contract.ts";
import { evaluateHere } from "../../asl/index.ts";
import type { ThreadAnswer } from "./evaluator.ts";

const port = parentPort!;

/** Only plain data crosses between threads. */
function post(answer: ThreadAnswer): void {
  try {
    port.postMessage(answer);
  } catch {
    port.postMessage({ unsupported: true } satisfies ThreadAnswer);
  }
}

port.on("message", (evaluation: Evaluation) => {
  evaluateHere(evaluation).then(
    (value) => post({ value }),
    (cause: { message?: string; code?: string }) =>
      post({ error: { message: cause.message ?? String(cause), code: cause.code } }),
  );
});

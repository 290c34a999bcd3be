// Evaluates expressions that could loop, recurse or backtrack where they can be ended: in a thread with little memory
// that is killed when one takes too long. What is bounded is evaluated at once, here.
import { Worker } from "node:worker_threads";
import type { Evaluation, Evaluator } from "../../asl/contract.ts";
import { evaluateHere } from "../../asl/index.ts";

export interface ThreadAnswer {
  readonly value?: unknown;
  /** A function, say: nothing that could cross between threads. */
  readonly unsupported?: true;
  readonly error?: { readonly message: string; readonly code: string | undefined };
}

export interface GuardedEvaluator {
  readonly evaluate: Evaluator;
  close(): Promise<void>;
}

const timeMsMax = 5000;
const memoryMbMax = 64;

// Workers cannot load TypeScript; in the tests this file is TypeScript and the thread comes from the build.
const threadFile = new URL(
  import.meta.url.endsWith(".ts")
    ? "../../../dist/workflow/worker/evaluator-thread.js"
    : "./evaluator-thread.js",
  import.meta.url,
);

const failure = (message: string, code?: string): Error =>
  Object.assign(new Error(message), code === undefined ? {} : { code });

/** What the language calls an unsupported result type. */
const unsupported = (): undefined => undefined;

/** One evaluation in the thread; `lost` where the thread is to be replaced. */
function ask(
  thread: Worker,
  evaluation: Evaluation,
  timeMs: number,
): Promise<ThreadAnswer & { lost?: boolean }> {
  return new Promise((resolve) => {
    const finish = (answer: ThreadAnswer & { lost?: boolean }) => {
      clearTimeout(timer);
      thread.off("message", finish);
      thread.off("error", onError);
      resolve(answer);
    };
    const lose = (message: string) => {
      thread.on("error", () => undefined);
      void thread.terminate();
      finish({ error: { message, code: undefined }, lost: true });
    };
    const onError = (cause: Error & { code?: string }) =>
      lose(cause.code === "ERR_WORKER_OUT_OF_MEMORY" ? `it took more than ${memoryMbMax} MB` : cause.message);
    const timer = setTimeout(() => lose(`it took longer than ${timeMs / 1000} seconds`), timeMs);
    thread.on("message", finish);
    thread.on("error", onError);
    thread.postMessage(evaluation);
  });
}

export function makeEvaluator({ timeMs = timeMsMax }: { timeMs?: number } = {}): GuardedEvaluator {
  let thread: Worker | undefined;
  let turn: Promise<unknown> = Promise.resolve();

  function start(): Worker {
    const made = new Worker(threadFile, {
      name: "tuntas-expressions",
      resourceLimits: { maxOldGenerationSizeMb: memoryMbMax, maxYoungGenerationSizeMb: 16 },
    });
    made.unref();
    return made;
  }

  async function evaluateThere(evaluation: Evaluation): Promise<unknown> {
    thread ??= start();
    const { value, error, lost, unsupported: isUnsupported } = await ask(thread, evaluation, timeMs);
    if (lost) thread = undefined;
    if (error) throw failure(error.message, error.code);
    return isUnsupported ? unsupported : value;
  }

  return {
    evaluate(evaluation) {
      if (evaluation.bounded) return evaluateHere(evaluation);
      // One at a time: a hostile expression delays others of its kind only.
      const result = turn.then(() => evaluateThere(evaluation));
      turn = result.catch(() => undefined);
      return result;
    },
    async close() {
      await thread?.terminate();
      thread = undefined;
    },
  };
}

// Evaluates expressions that could loop, recurse or backtrack where they can be ended: in a process with little memory
// that is killed when one takes too long. A thread would not do, for one that runs out of memory takes its process with
// it. What is bounded is evaluated at once, here.
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Evaluation, Evaluator } from "../../asl/contract.ts";
import { evaluateHere, memoryExceeded, timeExceeded } from "../../asl/index.ts";

export interface Answer {
  /** The value as JSON. */
  readonly text?: string;
  /** The expression yields nothing. */
  readonly nothing?: true;
  /** A function, say: what JSON cannot hold. */
  readonly unsupported?: true;
  readonly error?: { readonly message: string; readonly code?: string | undefined };
}

export interface GuardedEvaluator {
  readonly evaluate: Evaluator;
  close(): Promise<void>;
}

const timeMsMax = 5000;
const memoryMbMax = 64;

// Node does not run TypeScript; in the tests this file is TypeScript and the process comes from the build.
const processFile = fileURLToPath(
  new URL(
    import.meta.url.endsWith(".ts")
      ? "../../../dist/workflow/worker/evaluator-process.js"
      : "./evaluator-process.js",
    import.meta.url,
  ),
);

const failure = (message: string, code?: string): Error =>
  Object.assign(new Error(message), code === undefined ? {} : { code });

/** What the language calls an unsupported result type. */
const unsupported = (): undefined => undefined;

/** The process, once it has said that it is there: its start is no expression's time. */
async function start(): Promise<ChildProcess> {
  const child = fork(processFile, {
    execArgv: [`--max-old-space-size=${memoryMbMax}`, "--max-semi-space-size=8"],
    env: {},
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  child.on("error", () => undefined);
  await new Promise<void>((resolve, reject) => {
    child.once("message", () => resolve());
    child.once("exit", () => reject(failure("the process that evaluates expressions could not start")));
  });
  // While one is asked its clock keeps this process alive; else nothing of it shall.
  child.unref();
  child.channel?.unref();
  return child;
}

/** One evaluation over there; `lost` where the process is to be replaced. */
function ask(
  child: ChildProcess,
  evaluation: Evaluation,
  timeMs: number,
): Promise<Answer & { lost?: boolean }> {
  return new Promise((resolve) => {
    const finish = (answer: Answer & { lost?: boolean }) => {
      clearTimeout(timer);
      child.off("message", finish);
      child.off("exit", onExit);
      resolve(answer);
    };
    const lose = ({ message }: Error) => {
      child.kill("SIGKILL");
      finish({ error: { message }, lost: true });
    };
    const onExit = () => lose(memoryExceeded());
    const timer = setTimeout(() => lose(timeExceeded()), timeMs);
    child.on("message", finish);
    child.on("exit", onExit);
    child.send(evaluation, (cause) => cause && lose(failure(`its process is gone: ${cause.message}`)));
  });
}

export function makeEvaluator({ timeMs = timeMsMax }: { timeMs?: number } = {}): GuardedEvaluator {
  let child: ChildProcess | undefined;
  let turn: Promise<unknown> = Promise.resolve();

  async function evaluateThere(evaluation: Evaluation): Promise<unknown> {
    if (child?.connected !== true) child = await start();
    const { text, error, lost, unsupported: isUnsupported } = await ask(child, evaluation, timeMs);
    if (lost) child = undefined;
    if (error) throw failure(error.message, error.code);
    if (isUnsupported) return unsupported;
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  }

  return {
    evaluate(evaluation) {
      if (evaluation.bounded) return evaluateHere(evaluation);
      // One at a time: a hostile expression delays others of its kind only.
      const result = turn.then(() => evaluateThere(evaluation));
      turn = result.catch(() => undefined);
      return result;
    },
    close() {
      child?.kill("SIGKILL");
      child = undefined;
      return Promise.resolve();
    },
  };
}

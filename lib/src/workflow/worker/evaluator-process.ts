// The process that evaluates what could run away; whoever started it ends it. What comes out crosses as text: parts that are
// shared here would be walked through once for each place over there, where nobody counts the time.
import { Worker } from "node:worker_threads";
import type { Evaluation, Json } from "../../asl/contract.ts";
import { evaluateHere, plainJson } from "../../asl/index.ts";
import type { Answer } from "./evaluator.ts";

// An expression that never ends would outlive whoever asked: this loop hears of nothing while it runs, a thread does.
new Worker(new URL("./evaluator-orphan.js", import.meta.url), { workerData: process.ppid }).unref();
process.on("disconnect", () => process.exit(0));

const post = (answer: Answer): void => void process.send!(answer);

function answerOf(value: unknown): Answer {
  if (value === undefined) return { nothing: true };
  const plain: Json | undefined = plainJson(value);
  return plain === undefined ? { unsupported: true } : { text: JSON.stringify(plain) };
}

const errorOf = ({ message, code }: { message?: string; code?: string }): Answer => ({
  error: { message: message ?? "it failed", code },
});

process.on("message", (evaluation: Evaluation) => {
  evaluateHere(evaluation)
    .then(answerOf)
    .then(post, (cause: { message?: string; code?: string }) => post(errorOf(cause)));
});

process.send!("ready");

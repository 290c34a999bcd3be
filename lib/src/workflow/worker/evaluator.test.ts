// An expression that never ends is ended with its process, and that process does not outlive whoever asked.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, expect, it } from "vitest";
import { makeEvaluator } from "./evaluator.ts";

const endless = "($f := function($n) { $f($n) }; $f(1))";
const asked = (expression: string) => ({
  expression,
  bounded: false,
  bindings: { states: { input: { a: [3, 1, 2] } } },
  nowMs: 0,
  seed: "seed",
});

const evaluator = makeEvaluator({ timeMs: 1000 });
afterAll(() => evaluator.close());

it("answers, and goes on answering after what it had to end", async () => {
  const sorted = () => evaluator.evaluate(asked("$sort($states.input.a)"));
  expect(await sorted()).toEqual([1, 2, 3]);
  await expect(evaluator.evaluate(asked(endless))).rejects.toThrow("Expression evaluation timeout");
  expect(await sorted()).toEqual([1, 2, 3]);
});

it("says by name what runs out of memory, and lives on", async () => {
  const roomy = makeEvaluator();
  await expect(roomy.evaluate(asked("[1..9999999].([1..9999999])"))).rejects.toThrow(
    "Expression evaluation memory limit exceeded",
  );
  expect(await roomy.evaluate(asked("$count([1..3])"))).toBe(3);
  await roomy.close();
});

it("yields nothing, or what JSON cannot hold, as the language does", async () => {
  expect(await evaluator.evaluate(asked("($x := $states.input.none; $x)"))).toBeUndefined();
  expect(await evaluator.evaluate(asked("function($x) { $x }"))).toBeInstanceOf(Function);
});

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(/\s+/).filter(Boolean).map(Number);

it.skipIf(process.platform !== "linux")("does not outlive a parent that was killed", async () => {
  const built = new URL("../../../dist/workflow/worker/evaluator.js", import.meta.url).href;
  const script = `import { makeEvaluator } from ${JSON.stringify(built)};
    process.stdout.write("ready");
    await makeEvaluator({ timeMs: 600_000 }).evaluate(${JSON.stringify(asked(endless))});`;
  const parent = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(parent.stdout, "data");
  let [child] = childrenOf(parent.pid!);
  for (; child === undefined; [child] = childrenOf(parent.pid!)) await pause(20);
  await pause(500);
  parent.kill("SIGKILL");
  while (existsSync(`/proc/${child}`)) await pause(50);
});

// Runs a child script once for every step that it takes, killed at that step, until one run gets to its end.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

export interface Stepwise {
  /** The child script, beside the test. */
  readonly script: URL;
  readonly args: (step: number) => readonly string[];
  /** After each death: recover, and look whether all is well. `point` names where it died; `end` where it did not. */
  readonly check: (point: string, step: number) => Promise<void>;
}

const stepsMax = 80;

async function run(
  script: URL,
  args: readonly string[],
): Promise<{ code: number | null; signal: string | null; out: string }> {
  const child = spawn(process.execPath, [fileURLToPath(script), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let out = "";
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) =>
    child.once("close", (...ended) => resolve(ended)),
  );
  return { code, signal, out };
}

/** Answers the points at which the child died, in order. */
export async function killAtEachStep({ script, args, check }: Stepwise): Promise<string[]> {
  const points: string[] = [];
  for (let step = 0; step < stepsMax; step++) {
    const { code, signal, out } = await run(script, [String(step), ...args(step)]);
    if (signal !== "SIGKILL" && code !== 0) throw new Error(`the child failed at step ${step}: exit ${code}`);
    await check(signal ? out : "end", step);
    if (!signal) return points;
    points.push(out);
  }
  throw new Error(`the child still takes steps after ${stepsMax}`);
}

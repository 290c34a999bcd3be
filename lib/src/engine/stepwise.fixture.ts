// Runs a child script once for every step that it takes, killed at that step, until one run gets to its end.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

export interface Stepwise {
  /** The child script, beside the test. */
  readonly script: URL;
  /** What the child is told besides where to die. */
  readonly args: (life: number) => readonly string[];
  /** After each death: recover, and look whether all is well. `point` names where it died; `end` where it did not. */
  readonly check: (point: string, life: number) => Promise<void>;
  /** Points that must be met, also where what runs side by side does not take its steps in the same order each time. */
  readonly wanted?: readonly string[];
}

const stepsMax = 80;
const triesMax = 20;

/** Runs a child to its end; `out` is what it wrote, such as the step at which it died. */
export async function run(
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
export async function killAtEachStep({ script, args, check, wanted = [] }: Stepwise): Promise<string[]> {
  const points: string[] = [];
  let lives = 0;

  async function dies(killAt: number | string): Promise<boolean> {
    const life = lives++;
    const { code, signal, out } = await run(script, [String(killAt), ...args(life)]);
    if (signal !== "SIGKILL" && code !== 0) throw new Error(`the child failed at ${killAt}: exit ${code}`);
    await check(signal ? out : "end", life);
    if (signal) points.push(out);
    return signal !== null;
  }

  for (let step = 0; await dies(step); step++)
    if (step === stepsMax) throw new Error(`the child still takes steps after ${stepsMax}`);
  for (const point of wanted)
    for (let tries = 0; !points.includes(point) && tries < triesMax; tries++) await dies(point);
  return points;
}

// What will hurt later, found in what is declared now: reads what files export, and state machines as JSON.
import type { Declared, Finding } from "tuntas/check";
import { readDurations, readRuns, type MeasuredHandler } from "tuntas/measure";
import type { Command } from "../command.ts";
import { gatherFiles } from "../declared.ts";
import { elapsed, plural, table } from "../render.ts";
import { withPlatform } from "../session.ts";

const describe = ({ place, severity, rule, message, why, fix }: Finding): string =>
  [`${place ?? "somewhere"}: ${severity}: ${message}`, `  ${rule}: ${why}`, `  → ${fix}`].join("\n");

const describeAccepted = ({ place, rule, accepted }: Finding): string =>
  `${place ?? "somewhere"}: accepted: ${rule}: ${accepted}`;

const count = (findings: readonly Finding[], severity: string): number =>
  findings.filter((finding) => finding.severity === severity).length;

const describeMeasured = (handlers: readonly MeasuredHandler[]): string =>
  table(handlers, {
    handler: ({ handler }) => handler,
    attempts: ({ attempts }) => attempts,
    "measured p50": ({ p50Ms }) => elapsed(p50Ms),
    "measured p99": ({ p99Ms }) => elapsed(p99Ms),
    longest: ({ maxMs }) => elapsed(maxMs),
  });

interface Seen {
  readonly handlers: readonly MeasuredHandler[];
  readonly runs: Awaited<ReturnType<typeof readRuns>>;
}

/** What the handlers of these queues and workflows took in the last week, and the last jobs of batches. */
async function measure({ queues, workflows }: Declared): Promise<Seen> {
  const tasks = workflows.flatMap(({ name, tasks: own }) => [...own.keys()].map((task) => `${name}/${task}`));
  const named = new Set([...queues.map(({ name }) => name), ...tasks]);
  return withPlatform(async ({ database }) => ({
    handlers: (await readDurations(database)).filter(({ handler }) => named.has(handler)),
    runs: await readRuns(database),
  }));
}

function summaryOf(declarations: number, standing: readonly Finding[]): string {
  const looked = plural(declarations, "declaration");
  if (standing.length === 0) return `${looked}, all in order`;
  const [errors, warnings, advice] = [
    count(standing, "error"),
    count(standing, "warning"),
    count(standing, "advice"),
  ];
  return `${looked}: ${plural(errors, "error")}, ${plural(warnings, "warning")}, ${advice} advice`;
}

export const check: Command = {
  name: "check",
  summary:
    "Says what will hurt later: times that contradict each other, work that nobody waits for, keys that are none, limits without a bound.",
  arguments: [{ name: "FILE", required: true, many: true }],
  options: {
    measured: {
      meaning:
        "look into the database what handlers took in the last week, and the last jobs of batches, and check with that beside what is declared",
    },
  },
  examples: [
    ["tuntas check app.mjs", "of an application's queues and workers, and what it declares with `timing`"],
    ["tuntas check app.mjs --measured", "is the visibility still long enough for what handlers really take?"],
    [
      "tuntas check task-definition.json service.json",
      "has what ECS runs limits, a scaling rule, a breaker?",
    ],
    ["tuntas check app.mjs case-activation.asl.json --json", "with a state machine, for a script"],
  ],
  no: "there is an error or a warning that no declaration accepts (advice alone is 0)",
  async run(call) {
    const declared = await gatherFiles(call.positionals);
    const { handlers, runs } = call.flag("measured") ? await measure(declared) : { handlers: [], runs: [] };
    const measured = new Map(handlers.map(({ handler, ...rest }) => [handler, rest]));
    const { check: findIn } = await import("tuntas/check");
    const runsMs = new Map(runs.map(({ batch, runsMs: each }) => [batch, each]));
    const findings = findIn({ ...declared, measured, runsMs });
    const standing = findings.filter(({ accepted }) => accepted === null);
    const accepted = findings.filter((finding) => finding.accepted !== null);
    const { sources: _, ...looked } = declared;
    const declarations = Object.values(looked).flat().length;
    const text = [
      ...standing.map(describe),
      ...accepted.map(describeAccepted),
      ...(call.flag("measured") ? [describeMeasured(handlers)] : []),
      summaryOf(declarations, standing),
    ].join("\n");
    const isNo = standing.some(({ severity }) => severity !== "advice");
    return {
      document: { declarations, findings: standing, accepted, measured: handlers },
      text,
      status: isNo ? 1 : 0,
    };
  },
};

// What will hurt later, found in what is declared now: reads what files export, and state machines as JSON.
import { readFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { check as findIn, gather, type Finding } from "tuntas/check";
import type { Command } from "../command.ts";
import { loadModule } from "../dev/application.ts";
import { plural } from "../render.ts";

const isMachine = (file: string): boolean => file.endsWith(".json");

async function declaredIn(files: readonly string[]) {
  const modules = files.filter((file) => !isMachine(file)).map((file) => resolve(file));
  const machines = files.filter(isMachine).map((file) => resolve(file));
  return gather(
    await Promise.all(modules.map(async (file) => ({ file, exports: await loadModule(file) }))),
    machines.map((file) => ({
      name: basename(file).replace(/(\.asl)?\.json$/, ""),
      place: file,
      text: readFileSync(file, "utf8"),
    })),
  );
}

const describe = ({ place, severity, rule, message, why, fix }: Finding): string =>
  [`${place ?? "somewhere"}: ${severity}: ${message}`, `  ${rule}: ${why}`, `  → ${fix}`].join("\n");

const describeAccepted = ({ place, rule, accepted }: Finding): string =>
  `${place ?? "somewhere"}: accepted: ${rule}: ${accepted}`;

const count = (findings: readonly Finding[], severity: string): number =>
  findings.filter((finding) => finding.severity === severity).length;

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
  examples: [
    ["tuntas check app.mjs", "of an application's queues and workers, and what it declares with `timing`"],
    ["tuntas check app.mjs case-activation.asl.json --json", "with a state machine, for a script"],
  ],
  no: "there is an error or a warning that no declaration accepts (advice alone is 0)",
  async run(call) {
    const { queues, workers, timings, machines, ...rest } = await declaredIn(call.positionals);
    const findings = findIn({ queues, workers, timings, machines, ...rest });
    const standing = findings.filter(({ accepted }) => accepted === null);
    const accepted = findings.filter((finding) => finding.accepted !== null);
    const declarations = queues.length + workers.length + timings.length + machines.length;
    const text = [
      ...standing.map(describe),
      ...accepted.map(describeAccepted),
      summaryOf(declarations, standing),
    ].join("\n");
    const isNo = standing.some(({ severity }) => severity !== "advice");
    return { document: { declarations, findings: standing, accepted }, text, status: isNo ? 1 : 0 };
  },
};

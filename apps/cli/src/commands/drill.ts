// `tuntas drill`: trouble on purpose, and whether what follows is what was expected.
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Answer, Call, Command } from "../command.ts";
import { meantHint } from "tuntas";
import type { DrillName, DrillReport } from "../drills/index.ts";
import { bold, elapsed, pairs, paragraph, plural, sparkline } from "../render.ts";

/** Loaded where a drill is run: every other command would wait for what it needs. */
const load = () => import("../drills/index.ts");

async function listDrills(): Promise<Answer> {
  const { drills, drillNames } = await load();
  const all = drillNames.map((drill) => ({ drill, does: drills[drill].does, lesson: drills[drill].lesson }));
  const listed = pairs(all.map(({ drill, does }) => [drill, does] as const));
  return { document: all, text: `${listed}\n\nRun some: tuntas drill poison kill. All: tuntas drill --all` };
}

const verdict = ({ asExpected }: DrillReport): string => (asExpected ? "as expected" : "NOT as expected");

const checkText = ({ what, expected, observed, ok }: DrillReport["checks"][number]): string =>
  [
    `${ok ? "+" : "!"} ${paragraph(what, 2)}`,
    `    ${paragraph(ok ? observed : `expected ${expected}; observed ${observed}`, 4)}`,
  ].join("\n");

const isCurve = (value: unknown): value is number[] =>
  Array.isArray(value) && value.length > 2 && value.every((each) => typeof each === "number");

const curvesOf = ({ evidence }: DrillReport): string[] =>
  Object.entries(evidence).flatMap(([name, value]) =>
    isCurve(value) ? [`  ${sparkline(value)}  ${name}, at most ${Math.max(...value)}`] : [],
  );

const textOf = (report: DrillReport): string =>
  [
    bold(`${report.drill}: ${verdict(report)}, in ${elapsed(report.tookMs)}`),
    paragraph(report.does),
    ...report.checks.map(checkText),
    ...curvesOf(report),
    paragraph(report.lesson),
  ].join("\n");

const cell = (text: string): string => text.replaceAll("|", String.raw`\|`);

/** The report as a page. */
const pageOf = (report: DrillReport): string =>
  [
    `# Drill ${report.drill}: ${verdict(report)}`,
    `${report.does} ${report.startedAt}, ${elapsed(report.tookMs)}.`,
    [
      "| check | expected | observed | |",
      "| --- | --- | --- | --- |",
      ...report.checks.map(
        ({ what, expected, observed, ok }) =>
          `| ${cell(what)} | ${cell(expected)} | ${cell(observed)} | ${ok ? "yes" : "**no**"} |`,
      ),
    ].join("\n"),
    report.lesson,
    ...Object.entries(report.evidence).map(
      ([name, value]) => `## ${name}\n\n\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``,
    ),
  ].join("\n\n");

function keep(folder: string, report: DrillReport): void {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${report.startedAt.replaceAll(/[:.]/g, "-")}-${report.drill}`);
  writeFileSync(`${path}.json`, `${JSON.stringify(report, null, 2)}\n`);
  writeFileSync(`${path}.md`, `${pageOf(report)}\n`);
}

/** Errors: TUNTAS_CLI_USAGE, with the drill that was probably meant. */
async function chosen(call: Call): Promise<readonly DrillName[]> {
  const { drillNames } = await load();
  if (call.flag("all")) return drillNames;
  return call.positionals.map((word) => {
    const name = drillNames.find((each) => each === word);
    if (name) return name;
    throw call.wrong(
      `there is no drill ${JSON.stringify(word)}${meantHint(word, drillNames)}; the drills are ${drillNames.join(", ")}`,
    );
  });
}

async function perform(call: Call, names: readonly DrillName[]): Promise<Answer> {
  const { drills, runDrills } = await load();
  const folder = resolve(call.text("reports") ?? "drills");
  const wanted = Object.fromEntries(names.map((name) => [name, drills[name]]));
  const reports = await runDrills(wanted, (report) => {
    keep(folder, report);
    if (!call.flag("json")) process.stdout.write(`${textOf(report)}\n\n`);
  });
  const failed = reports.filter(({ asExpected }) => !asExpected);
  const text = `${plural(reports.length, "drill")}, ${failed.length === 0 ? "all as expected" : `not as expected: ${failed.map(({ drill }) => drill).join(", ")}`}; reports in ${folder}`;
  return { document: reports, text, status: failed.length === 0 ? 0 : 1 };
}

export const drill: Command = {
  name: "drill",
  summary:
    "Makes trouble on purpose, by real processes on a database that is thrown away, and says what was expected and what was seen; alone it lists the drills.",
  arguments: [{ name: "DRILL", required: false, many: true }],
  options: {
    all: { meaning: "all of them, one after another" },
    reports: { value: "FOLDER", meaning: "where a report of each is left; drills by default" },
  },
  examples: [
    ["tuntas drill", "which drills there are"],
    ["tuntas drill poison kill", "a poison message, and a kill -9 in the middle"],
    ["tuntas drill --all --json", "for a script: an array of reports"],
  ],
  no: "something was not as expected",
  async run(call) {
    const names = await chosen(call);
    return names.length === 0 ? listDrills() : perform(call, names);
  },
};

// `tuntas readiness`: the checklists before production. What a machine can see it looks at now; the rest people answer in the
// application's code.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { examine } from "tuntas/doctor";
import type { Checklist, Drilled, Line, ReadinessDefinition } from "tuntas/readiness";
import type { Answer, Call, Command } from "../command.ts";
import { declaredIn, gatherFiles } from "../declared.ts";
import { meantHint } from "tuntas";
import { bold, paragraph, table } from "../render.ts";
import { shapeOfKind } from "../scaffold/shapes.ts";
import { databaseOfEnvironment, withPlatform } from "../session.ts";

/** The reports that `tuntas drill` has left there. */
function drillsIn(folder: string): Drilled[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as Drilled)
    .map(({ drill, asExpected, startedAt }) => ({ drill, asExpected, startedAt }));
}

async function look(call: Call): Promise<readonly Checklist[]> {
  const files = call.texts("app");
  const { checklists, readFacts } = await import("tuntas/readiness");
  const declared = await gatherFiles(files);
  const answers = await Promise.all(files.map((file) => declaredIn<ReadinessDefinition>(file, "readiness")));
  const drills = drillsIn(resolve(call.text("drills") ?? "drills"));
  const examined = await examine({ ...databaseOfEnvironment(), port: 0 });
  const facts = await withPlatform((platform) =>
    readFacts(platform, { declared, answers: answers.flat(), drills, examined }),
  );
  return checklists(facts);
}

/** Those of a checklist's name, or of the thing of that name. Errors: TUNTAS_CLI_USAGE. */
async function chosen(call: Call, all: readonly Checklist[]): Promise<readonly Checklist[]> {
  const [word, name] = call.positionals;
  if (word === undefined) return all;
  const { listNames } = await import("tuntas/readiness");
  const list = listNames.find((each) => each === word || each === shapeOfKind(word));
  const found = all.filter((each) =>
    list === undefined ? each.of === word : each.list === list && (name === undefined || each.of === name),
  );
  if (found.length > 0) return found;
  const there = [...new Set(all.flatMap((each) => [each.list, each.of]).filter(Boolean))];
  throw call.wrong(
    `the application declares nothing for ${JSON.stringify(name ?? word)}${meantHint(name ?? word, there)}; there are checklists of ${there.join(", ")}`,
  );
}

const marks: Readonly<Record<Line["status"], string>> = { met: "+", answered: "+", unmet: "!", open: "?" };

const evidenceOf = ({ looked, found, asks }: Line): string =>
  [asks, found, looked && `(${looked})`].filter(Boolean).join(" ");

const lineText = (line: Line): string =>
  `${marks[line.status]} ${paragraph(line.says, 2)}\n    ${paragraph(evidenceOf(line), 4)}`;

const count = ({ lines }: Checklist, ...statuses: Line["status"][]): number =>
  lines.filter(({ status }) => statuses.includes(status)).length;

const titleOf = ({ list, of }: Checklist): string => (of === "" ? list : `${list} ${of}`);

function textOf(checklist: Checklist): string {
  const { lines, ready } = checklist;
  const done = count(checklist, "met", "answered");
  const verdict = ready ? "ready" : "NOT ready";
  return [bold(`${titleOf(checklist)}: ${verdict}, ${done} of ${lines.length}`), ...lines.map(lineText)].join(
    "\n",
  );
}

/** Where a person answers the first thing that is asked. */
function howToAnswer(all: readonly Checklist[]): string[] {
  const asked = all.find((each) => count(each, "open") > 0);
  if (!asked) return [];
  const { list, of, lines } = asked;
  const { id } = lines.find(({ status }) => status === "open")!;
  const about = of === "" ? "" : ` of: "${of}",`;
  const today = new Date().toISOString().slice(0, 10);
  const code = [
    `  import { readiness } from "tuntas/readiness";`,
    `  export const answers = readiness("${list}", {${about} answers: {`,
    `    ${/^[a-z]+$/.test(id) ? id : `"${id}"`}: { answer: "…", by: "…", on: "${today}" },`,
    `  } });`,
  ];
  return [
    `${paragraph("What is asked (?) a person answers beside the application, where it is reviewed and dated:")}\n${code.join("\n")}`,
  ];
}

const summaryOf = (all: readonly Checklist[]): string =>
  table(all, {
    "": ({ ready }) => (ready ? "+" : "!"),
    checklist: titleOf,
    seen: (each) => count(each, "met"),
    answered: (each) => count(each, "answered"),
    asked: (each) => count(each, "open"),
    "not so": (each) => count(each, "unmet"),
  });

function answerOf(call: Call, all: readonly Checklist[]): Answer {
  const ready = all.every((each) => each.ready);
  const parts =
    call.positionals.length === 0
      ? [summaryOf(all), "One of them whole: tuntas readiness NAME --app FILE"]
      : [...all.map(textOf), ...howToAnswer(all)];
  return { document: { ready, checklists: all }, text: parts.join("\n\n"), status: ready ? 0 : 1 };
}

export const readiness: Command = {
  name: "readiness",
  summary:
    "Goes through the checklist of an API, a worker, a workflow, a one-off command or the platform: each item with what was looked at and what was found, or the question that a person answers in the application's code; alone it counts them all.",
  arguments: [
    { name: "CHECKLIST", required: false },
    { name: "NAME", required: false },
  ],
  options: {
    app: {
      value: "FILE",
      meaning: "the application's built file as it is deployed; may be given several times",
      multiple: true,
    },
    drills: { value: "FOLDER", meaning: "where tuntas drill has left its reports; drills by default" },
  },
  examples: [
    ["tuntas readiness --app dist/orders.js --app dist/services.js", "all checklists, counted"],
    ["tuntas readiness worker --app dist/orders.js", "of each worker, item by item"],
    ["tuntas readiness api orders-api --app dist/services.js --json", "of one, for a gate of a pipeline"],
  ],
  no: "something is not so, or nobody has answered",
  run: async (call) => answerOf(call, await chosen(call, await look(call))),
};

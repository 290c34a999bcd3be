// `tuntas new`: the first five minutes, from an empty folder to work that survives kill -9.
import type { Answer, Call, Command } from "../command.ts";
import { meantHint } from "tuntas";
import { pairs, paragraph, plural } from "../render.ts";
import { overview } from "./explain.ts";
import { codeOf, dependenciesOf, projectFiles, toolsOf, workFiles } from "../scaffold/files.ts";
import { lackingIn, type Line } from "../scaffold/lacking.ts";
import { objectionTo } from "../scaffold/name.ts";
import { isShapeName, shapeNames, shapeOfKind, shapes, type ShapeName } from "../scaffold/shapes.ts";
import { missingOf, requireRoom, writeAll } from "../scaffold/write.ts";

/** Which shapes there are, and which to take. */
function listShapes(): Answer {
  const all = shapeNames.map((shape) => ({ shape, ...shapes[shape] }));
  const flow = pairs(all.map(({ shape, when }) => [shape, when] as const));
  const text = [
    overview(),
    `Which one? Ask from the top; the first that fits is it:\n${flow}`,
    paragraph(
      "One feature is often several: an api that accepts, a worker that does, a schedule that looks after them. Then ask whose data it is: where work belongs to tenants, the tenant is in its key.",
    ),
    pairs([
      ["asked one by one", "tuntas choose"],
      ["one shape whole", "tuntas explain worker"],
      ["begin, in an empty folder or a project", "tuntas new worker parcel-label"],
    ]),
  ].join("\n\n");
  return { document: all, text };
}

/** Errors: TUNTAS_CLI_USAGE, with the shape that was probably meant. */
function shapeOf(call: Call): ShapeName {
  const word = call.argument(0);
  if (isShapeName(word)) return word;
  const kind = shapeOfKind(word);
  const hint =
    kind !== undefined
      ? `; a ${word} has the shape ${kind}: tuntas new ${kind}`
      : meantHint(word, shapeNames);
  throw call.wrong(
    `there is no shape ${JSON.stringify(word)}${hint}; the shapes are ${shapeNames.join(", ")}`,
  );
}

/** In a project of one's own the scripts are those of its other work. */
const withoutScripts = (line: string): string =>
  line
    .replace("npm run dev", "npx tsc && npx tuntas dev dist/NAME.js")
    .replace("npm start", "npx tsc && node dist/NAME.main.js")
    .replace("npm test", "npx tsc && node --test dist/NAME.test.js");

interface Begun {
  readonly shape: ShapeName;
  readonly name: string;
  /** Where it was written into a project that is there: lines that bring what this one lacks. */
  readonly lacking: readonly Line[] | undefined;
}

/** Lines to type, and what each does. */
function nextOf({ shape, name, lacking }: Begun): readonly Line[] {
  const tries: readonly Line[] = [
    ["npm test", "type-checked, and killed where it hurts, on a real PostgreSQL"],
    ...shapes[shape].tries,
  ];
  const typed = tries.map(([line, meaning]): Line => [
    (lacking ? withoutScripts(line) : line).replaceAll("NAME", name),
    meaning,
  ]);
  return [...(lacking ?? [["npm install", "once"] as const]), ...typed];
}

function begin(call: Call): Answer {
  const shape = shapeOf(call);
  const name = call.positionals[1] ?? shapes[shape].template;
  const objection = objectionTo(name, codeOf(shape));
  if (objection !== undefined) throw call.wrong(objection);
  const folder = process.cwd();
  const work = workFiles(shape, name);
  requireRoom(folder, work);
  const project = projectFiles(shape, name);
  const missing = missingOf(folder, project);
  const files = [...missing, ...work];
  requireRoom(folder, files);
  const next = nextOf({ shape, name, lacking: lackingIn(folder, dependenciesOf(work), toolsOf()) });
  const dryRun = call.flag("dry-run");
  if (!dryRun) writeAll(folder, files);
  const kept = project.filter((file) => !missing.includes(file)).map(({ path }) => path);
  const text = [
    `${dryRun ? "would write" : "wrote"} ${plural(files.length, "file")}:\n${files.map(({ path }) => `  ${path}`).join("\n")}`,
    ...(kept.length > 0 ? [`left as ${kept.length > 1 ? "they are" : "it is"}: ${kept.join(", ")}`] : []),
    `Then:\n${next.map(([line, meaning]) => `  # ${meaning}\n  ${line}`).join("\n")}`,
  ].join("\n\n");
  return { document: { shape, name, dryRun, files, kept, next }, text };
}

export const newWork: Command = {
  name: "new",
  summary:
    "Writes new work of one shape, with its test and its runbook, into this folder; alone it says which shapes there are.",
  arguments: [
    { name: "SHAPE", required: false },
    { name: "NAME", required: false },
  ],
  options: { "dry-run": { meaning: "say what it would write, and write nothing" } },
  examples: [
    ["tuntas new", "the shapes of work, and which to take"],
    ["tuntas new worker parcel-label", "in an empty folder a project, in another one its files beside yours"],
    ["tuntas new schedule nightly-report --dry-run", "what it would write"],
  ],
  no: "a file is in the way; nothing was written",
  run: async (call) => (call.positionals.length === 0 ? listShapes() : begin(call)),
};

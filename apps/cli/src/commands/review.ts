// `tuntas review`: a design, before it is code. People answer on a page of Markdown that stays with the code; this says what is open, what
// of it will hurt, and what the result is.
import { readFileSync } from "node:fs";
import type { Answer, Command } from "../command.ts";
import { requireFile } from "../dev/load.ts";
import { bold, pairs, paragraph } from "../render.ts";
import { blankPage, readPage } from "../review/page.ts";
import { reviewOf, type Finding, type Review } from "../review/review.ts";
import { templateOf } from "../scaffold/choice.ts";
import type { ShapeName } from "../scaffold/shapes.ts";
import { shapeOf } from "./explain.ts";

interface Reviewed extends Review {
  readonly file: string;
}

function reviewFile(file: string): Reviewed {
  requireFile(file);
  return { file, ...reviewOf(readPage(readFileSync(file, "utf8"))) };
}

const oneLine = (text: string): string => text.replaceAll(/\s*\n\s*/g, " ");

const describe = (
  file: string,
  { line, id, message, why, fix, begin, source, definition }: Finding,
): string =>
  [
    `${file}:${line}: ${id}: ${message}`,
    `  ${paragraph(why, 2)}`,
    ...fix.map((each) => `  → ${paragraph(each, 4)}`),
    ...(begin ? [`  begin: ${templateOf(begin)}`] : []),
    ...(source ? [`  ${source}`] : []),
    ...(definition ? [JSON.stringify(definition, null, 2)] : []),
  ].join("\n");

const describeAccepted = (file: string, { line, id, accepted }: Finding): string =>
  `${file}:${line}: accepted: ${id}: ${accepted}`;

/** What was decided, in the words of the page. */
function resultText({ shape, besides, answers }: Review): string {
  const { traits, service, protection, terminal, signals } = answers;
  const said = {
    type: shape,
    "beside it": besides.length > 0 ? `${besides.join(", ")}: a page for each` : undefined,
    traits,
    "runs on": service,
    "protects its downstream": protection,
    "fails for good": terminal,
    tracks: signals,
  };
  return pairs(
    Object.entries(said)
      .map(([name, text = ""]) => [name, oneLine(text)] as const)
      .filter(([, text]) => text !== ""),
  );
}

function textOf({ file, ...review }: Reviewed): string {
  const { name, approved, open, findings, tests } = review;
  const standing = findings.filter(({ accepted }) => accepted === null);
  const accepted = findings.filter((finding) => finding.accepted !== null);
  return [
    bold(`${name}: ${approved ? "approved" : "NOT approved"}`),
    ...(approved ? [resultText(review)] : []),
    ...standing.map((finding) => describe(file, finding)),
    ...accepted.map((finding) => describeAccepted(file, finding)),
    ...(open.length > 0
      ? [`${file}: nobody has answered:\n${open.map(({ asks }) => `  ## ${asks}`).join("\n")}`]
      : []),
    ...(approved ? [`To be tested:\n${pairs(Object.entries(tests))}`] : []),
  ].join("\n\n");
}

function blank(shape: ShapeName): Answer {
  const page = blankPage(shape);
  return { document: { shape, page }, text: page };
}

export const review: Command = {
  name: "review",
  summary:
    "Reviews a design before it is code: a page of Markdown with thirteen questions, what becomes of failures, and a result that is more than a service's name. Names what nobody has answered, and what of it will hurt, with the way out.",
  arguments: [{ name: "FILE", required: false, many: true }],
  options: {
    blank: { value: "SHAPE", meaning: "print a page to fill in, with what Tuntas does about each failure" },
  },
  examples: [
    ["tuntas review --blank worker > enrichment.md", "a page to fill in"],
    ["tuntas review enrichment.md", "what is open, what will hurt, and what is to be tested"],
    ["tuntas review designs/*.md --json", "for a gate of a pipeline"],
  ],
  no: "a question is open, or there is a finding that the page does not accept with a reason",
  run: async (call) => {
    const word = call.text("blank");
    if (word !== undefined) return blank(shapeOf(call, word));
    if (call.positionals.length === 0)
      throw call.wrong("expected a page to review; --blank SHAPE prints one to fill in");
    const all = call.positionals.map(reviewFile);
    return {
      document: all,
      text: all.map(textOf).join("\n\n"),
      status: all.every(({ approved }) => approved) ? 0 : 1,
    };
  },
};

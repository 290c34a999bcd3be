// The page that a review is: Markdown that people write and keep, a heading a question, boxes for what is so. What stands under other
// headings is theirs.
import { failuresOf, type Failures } from "../scaffold/failures.ts";
import type { ShapeName } from "../scaffold/shapes.ts";
import { failures, headings, matrix, optional, questions, result, type Heading } from "./questions.ts";
import { symptoms, symptomsOf, type Symptom } from "./smells.ts";

/** A line of the page, counted from 1. */
interface Line {
  readonly text: string;
  readonly line: number;
}

export interface Section {
  readonly text: string;
  readonly line: number;
  readonly lines: readonly Line[];
}

export interface Page {
  readonly title: string;
  readonly sections: ReadonlyMap<Heading, Section>;
  /** What stands under no heading of ours. */
  readonly prose: string;
}

/** As it is compared: a number before it, its stop and its case do not count. */
const plain = (text: string): string =>
  text
    .replace(/^\d+\.\s*/, "")
    .replace(/[.?:*\s]+$/, "")
    .toLowerCase();

const known = new Map(Object.entries(headings).map(([key, asks]) => [plain(asks), key as Heading]));
const heading = /^#{2,6}\s+(.+)$/;

function sectionOf([{ line }, ...lines]: readonly [Line, ...Line[]]): Section {
  const text = lines
    .map((each) => each.text)
    .join("\n")
    .replaceAll(/<!--[\s\S]*?-->/g, "")
    .trim();
  return { text, line, lines };
}

/** The lines from one heading to the next; a `##` inside a block of code is none. */
function partsOf(text: string): [Line, ...Line[]][] {
  const parts: [Line, ...Line[]][] = [[{ text: "", line: 0 }]];
  let inCode = false;
  for (const [index, written] of text.split(/\r?\n/).entries()) {
    if (/^\s*(```|~~~)/.test(written)) inCode = !inCode;
    const line = { text: written, line: index + 1 };
    if (!inCode && heading.test(written)) parts.push([line]);
    else parts.at(-1)!.push(line);
  }
  return parts;
}

export function readPage(text: string): Page {
  const sections = new Map<Heading, Section>();
  let prose = "";
  for (const part of partsOf(text)) {
    const key = known.get(plain(heading.exec(part[0].text)?.[1] ?? ""));
    const section = sectionOf(part);
    if (key === undefined) prose += `${section.text}\n`;
    else sections.set(key, section);
  }
  const title = /^#\s+(?:review(?: of)?:?\s+)?(.+)$/im.exec(prose)?.[1]?.trim() ?? "this work";
  return { title, sections, prose: prose.replace(/^#\s.*$/m, "").trim() };
}

/** What a person has ticked; undefined where no symptom reads so. */
export interface Tick extends Line {
  readonly symptom: Symptom | undefined;
}

const bySentence = new Map(Object.entries(symptoms).map(([key, says]) => [plain(says), key as Symptom]));

export const ticksOf = ({ sections }: Page): Tick[] =>
  (sections.get("symptoms")?.lines ?? []).flatMap(({ text, line }) => {
    const said = /^\s*[-*]\s+\[[xX]\]\s+(.+)$/.exec(text)?.[1];
    return said === undefined ? [] : [{ text: said, line, symptom: bySentence.get(plain(said)) }];
  });

/** The items of a list under that heading, without their marks. */
export const itemsOf = ({ sections }: Page, of: Heading): string[] =>
  (sections.get(of)?.lines ?? []).flatMap(({ text }) => /^\s*(?:[-*]|\d+\.)\s+(.+)$/.exec(text)?.[1] ?? []);

const written = (asks: string, text = ""): string => `## ${asks}\n\n${text}`.trimEnd();

const failureOf = (question: string): keyof Failures =>
  (Object.keys(matrix) as (keyof Failures)[]).find((failure) => matrix[failure] === question)!;

/** A page to fill in. What becomes of failures stands there as Tuntas does it, to be changed where it is otherwise. */
export function blankPage(shape: ShapeName): string {
  const usual = failuresOf(shape);
  const given = new Map<string, string>([
    ["type", shape],
    ...Object.keys(failures).map((key) => [key, usual[failureOf(key)]] as const),
  ]);
  const boxes = symptomsOf(shape).map((each) => `- [ ] ${symptoms[each]}`);
  const parts = [
    `# Review: NAME`,
    ...Object.entries({ ...questions, ...failures }).map(([key, asks]) => written(asks, given.get(key))),
    ...(boxes.length > 0 ? [written(optional.symptoms, boxes.join("\n"))] : []),
    ...Object.values(result).map((asks) => written(asks)),
  ];
  return parts.join("\n\n");
}

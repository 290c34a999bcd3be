// Text for a terminal: tables that fit its width, bold heads only where somebody looks.
import { styleText } from "node:util";

const widthDefault = 100;
const gap = "  ";

const terminalWidth = (): number => process.stdout.columns || widthDefault;

/** Bold on a terminal, plain anywhere else or under NO_COLOR. */
export const bold = (text: string): string =>
  process.stdout.isTTY && process.env.NO_COLOR === undefined ? styleText("bold", text) : text;

// A body may hold line breaks and control characters; a cell may not.
const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, " ");

/** A body for a person: unchanged on a pipe, without what would steer a terminal on one. */
export const printable = (text: string): string =>
  process.stdout.isTTY ? text.replaceAll(/[^\P{Cc}\n\t]/gu, "\uFFFD") : text;

const cut = (text: string, width: number): string =>
  text.length <= width ? text : `${text.slice(0, Math.max(1, width - 1))}…`;

/** Takes from the widest column until all fit. */
function fit(widths: readonly number[], room: number): number[] {
  const fitted = [...widths];
  const least = 6;
  while (fitted.reduce((sum, width) => sum + width, 0) > room) {
    const widest = fitted.indexOf(Math.max(...fitted));
    if (fitted[widest]! <= least) break;
    fitted[widest]!--;
  }
  return fitted;
}

export type Cell = string | number | null | undefined;

/** What a cell of a table shows where there is nothing; a fact is left out. */
const nothing = "-";

/** What of a column has to be read for it to tell anything, and what of the whole may be cut off all the same. */
const tellingMax = 24;
const slack = 1.15;

/** Whether a terminal has so little room that cells would be cut beyond reading. */
function isCrowded(wanted: readonly number[]): boolean {
  const telling = wanted.reduce((sum, width) => sum + Math.min(width, tellingMax), 0);
  return telling + gap.length * (wanted.length - 1) > terminalWidth() * slack;
}

/**
 * A table of records; the keys of `columns` are read from each row. On a pipe nothing is cut; a terminal that is too narrow for it gets
 * one record below another.
 */
export function table<Row extends object>(
  rows: readonly Row[],
  columns: Readonly<Record<string, (row: Row) => Cell>>,
): string {
  if (rows.length === 0) return "(none)";
  const heads = Object.keys(columns);
  const cells = rows.map((row) => heads.map((head) => oneLine(String(columns[head]!(row) ?? nothing))));
  const wanted = heads.map((head, index) =>
    Math.max(head.length, ...cells.map((line) => line[index]!.length)),
  );
  if (process.stdout.isTTY && isCrowded(wanted))
    return cells
      .map((line) => facts(Object.fromEntries(heads.map((head, index) => [head, line[index]]))))
      .join("\n\n");
  const widths = process.stdout.isTTY
    ? fit(wanted, terminalWidth() - gap.length * (heads.length - 1))
    : wanted;
  const line = (texts: readonly string[]) =>
    texts
      .map((text, index) => cut(text, widths[index]!).padEnd(widths[index]!))
      .join(gap)
      .trimEnd();
  return [bold(line(heads)), ...cells.map(line)].join("\n");
}

/** The table with as many of its first columns as a terminal shows whole; all of them on a pipe. */
export function fitting<Row extends object>(
  rows: readonly Row[],
  columns: Readonly<Record<string, (row: Row) => Cell>>,
): string {
  const heads = Object.keys(columns);
  const widthOf = (head: string) =>
    Math.max(head.length, ...rows.map((row) => String(columns[head]!(row) ?? nothing).length)) + gap.length;
  let left = process.stdout.isTTY ? terminalWidth() + gap.length : Infinity;
  const shown = heads.filter((head) => (left -= widthOf(head)) >= 0);
  return table(rows, Object.fromEntries(shown.map((head) => [head, columns[head]!])));
}

/** `decidedBy` as `decided by`. */
export const spoken = (name: string): string =>
  name.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** Names and values, one a line; nothing of those that are empty. */
export function facts(entries: Readonly<Record<string, Cell>>): string {
  const known = Object.entries(entries)
    .map(([name, value]) => [spoken(name), oneLine(String(value ?? ""))] as const)
    .filter(([, text]) => text !== "" && text !== nothing);
  const width = Math.max(...known.map(([name]) => name.length));
  return known.map(([name, text]) => `${name.padEnd(width)}${gap}${text}`).join("\n");
}

/** An instant as people sort and compare it. */
export const instant = (ms: number | null): string =>
  ms === null ? nothing : new Date(ms).toISOString().slice(0, 19).concat("Z");

const spans = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1000],
] as const;

/** A time span in the largest unit of which there are two: `90 s`, `36 h`, `5 d`. */
export function elapsed(ms: number | null): string {
  if (ms === null) return nothing;
  const [unit, size] = spans.find(([, each]) => Math.abs(ms) >= 2 * each) ?? ["ms", 1];
  return `${Math.round(ms / size)} ${unit}`;
}

/** `1 message`, `3 messages`. */
export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** Lines of at most so many characters, broken between words. */
function wrapped(text: string, width: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1)!;
    if (line !== "" && line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines;
}

const meaningMin = 30;
const room = (left: number): number =>
  process.stdout.isTTY ? Math.max(meaningMin, terminalWidth() - left) : Infinity;

/** Text that is broken where a terminal ends; its further lines begin below the first one's. `left` is where that is. */
export const paragraph = (text: string, left = 0): string =>
  wrapped(text, room(left)).join(`\n${" ".repeat(left)}`);

/** Two columns; on a terminal the second is broken where the screen ends. */
export const pairs = (
  entries: readonly (readonly [string, string])[],
  width = Math.max(...entries.map(([name]) => name.length)),
): string =>
  entries.map(([name, meaning]) => `  ${name.padEnd(width)}  ${paragraph(meaning, width + 4)}`).join("\n");

const bars = "▁▂▃▄▅▆▇█";

/** A curve in a line; of many values each mark is the highest of its share. */
export function sparkline(values: readonly number[], marks = 40): string {
  const count = Math.min(marks, values.length);
  const highest = Math.max(...values, Number.MIN_VALUE);
  const share = (index: number) => Math.floor((index * values.length) / count);
  return Array.from({ length: count }, (_, index) => {
    const value = Math.max(...values.slice(share(index), share(index + 1)));
    return bars[Math.round((Math.max(0, value) / highest) * (bars.length - 1))];
  }).join("");
}

// A log's line for a person at a terminal. What stands elsewhere in the line, or says nothing to a person, is left out;
// the whole of it is in the JSON that a pipe gets.
import { styleText } from "node:util";

const levels: Readonly<Record<number, string>> = {
  10: "trace",
  20: "debug",
  30: "info",
  40: "warn",
  50: "error",
  60: "fatal",
};
const colours = { warn: "yellow", error: "red", fatal: "red" } as const;
const hidden = new Set(["level", "time", "msg", "event", "stack"]);

interface Line {
  readonly level: number;
  /** ISO 8601. */
  readonly time: string;
  readonly msg?: string;
  readonly stack?: string;
  readonly cause?: { readonly stack?: string };
}

const twoDigits = (value: number): string => String(value).padStart(2, "0");

/** The hour of the person's own clock. */
function clock(time: string): string {
  const at = new Date(time);
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map(twoDigits).join(":");
}

function textOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  const { stack: _, ...rest } = value as { stack?: unknown };
  return JSON.stringify(rest);
}

const library = new URL("../../", import.meta.url).href;

const isForeign = (frame: string): boolean => /node:|node_modules/.test(frame) || frame.includes(library);

/** Where it was thrown: the person's own frames, since those of Node and of packages are nothing that he can mend. */
function framesOf(stack: string): string[] {
  const frames = stack.split("\n").filter((line) => line.startsWith("    at "));
  const own = frames.filter((frame) => !isForeign(frame));
  return (own.length > 0 ? own : frames).map((line) => `  ${line}`);
}

/** One JSON line of the log as a person reads it; `coloured` for terminals that want it. */
export function readableLine(json: string, coloured: boolean): string {
  const line = JSON.parse(json) as Line;
  const style = (format: Parameters<typeof styleText>[0], text: string) =>
    coloured ? styleText(format, text, { validateStream: false }) : text;
  const level = levels[line.level] ?? String(line.level);
  const colour = colours[level as keyof typeof colours];
  const facts = Object.entries(line)
    .filter(([name]) => !hidden.has(name))
    .map(([name, value]) => `${name}=${textOf(value)}`)
    .join(" ");
  const head = colour === undefined ? level.padEnd(5) : style(colour, level.padEnd(5));
  const stack = line.stack ?? line.cause?.stack;
  return [
    `${style("dim", clock(line.time))} ${head} ${line.msg ?? ""}  ${style("dim", facts)}`.trimEnd(),
    ...(stack === undefined ? [] : framesOf(stack)),
    "",
  ].join("\n");
}

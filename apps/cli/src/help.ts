// Help that teaches: what a command is for, what it takes, and lines to copy.
import type { ArgumentSpec, Command } from "./command.ts";

const argumentText = ({ name, required, many }: ArgumentSpec): string => {
  const text = many ? `${name}…` : name;
  return required ? text : `[${text}]`;
};

/** `tuntas queue show NAME [options]`. */
export const usageOf = (command: Command): string =>
  [
    "tuntas",
    command.name,
    ...(command.arguments ?? []).map(argumentText),
    ...(command.options ? ["[options]"] : []),
  ].join(" ");

/** Options as pairs of `--name VALUE` and meaning, with those that every command has. */
export function optionsOf(command: Command): readonly (readonly [name: string, meaning: string])[] {
  const own = Object.entries(command.options ?? {}).map(
    ([name, { value, meaning, multiple }]) =>
      [
        `--${name}${value === undefined ? "" : ` ${value}`}`,
        multiple ? `${meaning} (may be repeated)` : meaning,
      ] as const,
  );
  return [
    ...own,
    ...(command.destructive ? [["--yes", "yes, remove it; there is no question"] as const] : []),
    ["--json", "print one JSON document"],
    ["--help", "print this help"],
  ];
}

export const statusesOf = (command: Command): readonly (readonly [status: string, meaning: string])[] => [
  ["0", "done; the answer is yes"],
  ["1", command.no ?? "it failed"],
  ["2", "the command line was not understood"],
];

function pairs(entries: readonly (readonly [string, string])[]): string {
  const width = Math.max(...entries.map(([name]) => name.length));
  return entries.map(([name, meaning]) => `  ${name.padEnd(width)}  ${meaning}`).join("\n");
}

/** The help of one command. */
export function helpOf(command: Command): string {
  const examples = command.examples.map(([line, meaning]) => `  # ${meaning}\n  ${line}`).join("\n");
  return [
    command.summary,
    `Usage: ${usageOf(command)}`,
    `Options:\n${pairs(optionsOf(command))}`,
    `Exit status:\n${pairs(statusesOf(command))}`,
    `Examples:\n${examples}`,
  ].join("\n\n");
}

/** All commands on one page. */
export const overview = (commands: readonly Command[]): string =>
  [
    "Tuntas: backend work that ends, once, and on the record.",
    `Commands:\n${pairs(commands.map((command) => [command.name, command.summary]))}`,
    [
      "The database is DATABASE_URL, else an embedded PostgreSQL under TUNTAS_DATA_DIR (.tuntas by default).",
      "Every command has --json and --help.",
    ].join("\n"),
    "Examples:\n  # begin without an application: engine and gateway on port 4566\n  tuntas serve\n  # what is wrong here?\n  tuntas doctor",
  ].join("\n\n");

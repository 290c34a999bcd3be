// Help that teaches: what a command is for, what it takes, and lines to copy.
import type { ArgumentSpec, Command } from "./command.ts";
import type { NounGroup } from "./nouns.ts";
import { pairs, paragraph } from "./render.ts";

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

/** The help of one command. */
export function helpOf(command: Command): string {
  const examples = command.examples.map(([line, meaning]) => `  # ${meaning}\n  ${line}`).join("\n");
  return [
    paragraph(command.summary),
    `Usage: ${usageOf(command)}`,
    `Options:\n${pairs(optionsOf(command))}`,
    `Exit status:\n${pairs(statusesOf(command))}`,
    `Examples:\n${examples}`,
  ].join("\n\n");
}

/** The commands of one noun. */
export function helpOfGroup(group: string, commands: readonly Command[]): string {
  const listed = pairs(commands.map(({ name, summary }) => [name, summary]));
  return [
    `Usage: tuntas ${group} COMMAND …`,
    `Commands:\n${listed}`,
    `What one of them takes: tuntas help ${commands[0]!.name}`,
  ].join("\n\n");
}

/** All nouns on one page. */
export function overview(groups: readonly NounGroup[]): string {
  const width = Math.max(...groups.flatMap(([, nouns]) => Object.keys(nouns)).map((noun) => noun.length));
  return [
    [
      "Tuntas: backend work that ends, once, and on the record.",
      "Usage: tuntas NOUN COMMAND …, with --help: examples, with --json: a document.",
      "A noun's commands: tuntas help NOUN. Database: DATABASE_URL, else in .tuntas.",
    ].join("\n"),
    ...groups.map(([heading, nouns]) => `${heading}:\n${pairs(Object.entries(nouns), width)}`),
  ].join("\n\n");
}

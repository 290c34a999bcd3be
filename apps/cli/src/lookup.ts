// Which command a line begins with.
import { nearest } from "tuntas";
import type { Command } from "./command.ts";
import { cliErrors } from "./errors.ts";

/** The commands of a noun. */
export const ofGroup = (commands: readonly Command[], group: string): readonly Command[] =>
  commands.filter(({ name }) => name.startsWith(`${group} `));

/**
 * The command that the line begins with, and what is left of the line; a noun alone asks for its help. Errors:
 * TUNTAS_CLI_COMMAND.
 */
export function findCommand(
  commands: readonly Command[],
  words: readonly string[],
): { command: Command; rest: readonly string[] } {
  for (const length of [2, 1]) {
    const command = commands.find((each) => each.name === words.slice(0, length).join(" "));
    if (command) return { command, rest: words.slice(length) };
  }
  const given = words.slice(0, 2).filter((word) => !word.startsWith("-"));
  const help = commands.find(({ name }) => name === "help");
  if (help && given.length === 1 && ofGroup(commands, given[0]!).length > 0)
    return { command: help, rest: words.filter((word) => word !== "--help" && word !== "-h") };
  throw cliErrors.error(
    "TUNTAS_CLI_COMMAND",
    `there is no command ${JSON.stringify(given.join(" "))}${suggestion(commands, given)}`,
  );
}

function suggestion(commands: readonly Command[], given: readonly string[]): string {
  const names = commands.map(({ name }) => name);
  const nouns = [...new Set(names.map((name) => name.split(" ")[0]!))];
  const meant = nearest(given.join(" "), names) ?? nearest(given[0] ?? "", nouns);
  return meant === undefined ? "" : `; did you mean \`tuntas ${meant}\`?`;
}

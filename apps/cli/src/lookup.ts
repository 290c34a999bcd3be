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

/** The noun is looked for first, and the verb among its own alone: a long noun makes no verb near that would do something else. */
function suggestion(commands: readonly Command[], [given = "", verb]: readonly string[]): string {
  const nouns = [...new Set(commands.map(({ name }) => name.split(" ")[0]!))];
  const noun = nearest(given, nouns);
  if (noun === undefined) return "";
  const verbs = ofGroup(commands, noun).map(({ name }) => name.slice(noun.length + 1));
  const meant = verb === undefined ? undefined : nearest(verb, verbs);
  if (meant !== undefined) return `; did you mean \`tuntas ${noun} ${meant}\`?`;
  return given === noun && verbs.length > 0
    ? `; \`tuntas ${noun}\` has ${verbs.join(", ")}`
    : `; did you mean \`tuntas ${noun}\`?`;
}

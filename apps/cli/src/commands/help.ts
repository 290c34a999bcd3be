import type { Call, Command } from "../command.ts";
import { helpOf, helpOfGroup, overview } from "../help.ts";
import { findCommand, ofGroup } from "../lookup.ts";
import { nounGroups } from "../nouns.ts";

const describe = ({ name, summary, arguments: takes = [], options = {}, examples, no }: Command) => ({
  name,
  summary,
  arguments: takes,
  options,
  examples,
  exitStatus1: no,
});

function answer(commands: readonly Command[], call: Call) {
  if (call.positionals.length === 0) return { document: commands.map(describe), text: overview(nounGroups) };
  const [group] = call.positionals;
  const own = ofGroup(commands, group!);
  if (call.positionals.length === 1 && own.length > 0)
    return { document: own.map(describe), text: helpOfGroup(group!, own) };
  const { command } = findCommand(commands, call.positionals);
  return { document: describe(command), text: helpOf(command) };
}

/** The table comes as a function, because this command stands in it. */
export const help = (table: () => readonly Command[]): Command => ({
  name: "help",
  summary: "Explains a noun or a command, or lists all nouns.",
  arguments: [{ name: "COMMAND", required: false, many: true }],
  examples: [
    ["tuntas help dlq", "the commands of a group"],
    ["tuntas help dlq replay", "one command, with examples"],
  ],
  run: async (call) => answer(table(), call),
});

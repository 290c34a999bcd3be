// From a command line to an exit status: 0 the answer is yes, 1 it is no (or something went wrong), 2 it was not understood.
import { parseArgs } from "node:util";
import { isTuntasError, meantHint, type TuntasError } from "tuntas";
import { Call, type Answer, type Command } from "./command.ts";
import { commands } from "./commands/index.ts";
import { cliErrors, usageError } from "./errors.ts";
import { helpOf } from "./help.ts";
import { findCommand } from "./lookup.ts";

const everywhere = {
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
  yes: { type: "boolean" },
} as const;

const usageCodes = new Set(["TUNTAS_CLI_COMMAND", "TUNTAS_CLI_USAGE", "TUNTAS_CLI_UNCONFIRMED"]);

function parse(command: Command, rest: readonly string[]): Call {
  const options = Object.fromEntries(
    Object.entries(command.options ?? {}).map(([name, spec]) => [
      name,
      {
        type: spec.value === undefined ? ("boolean" as const) : ("string" as const),
        multiple: spec.multiple ?? false,
      },
    ]),
  );
  try {
    const { values, positionals } = parseArgs({
      args: [...rest],
      options: { ...options, ...everywhere },
      allowPositionals: true,
    });
    return new Call(command, positionals, values);
  } catch (cause) {
    throw explainParse(command, cause as Error);
  }
}

function explainParse(command: Command, cause: Error): TuntasError {
  const unknown = /Unknown option '(--?[^']+)'/.exec(cause.message)?.[1];
  const fail = (message: string) => usageError(command.name, message);
  if (unknown === undefined) return fail(`tuntas ${command.name}: ${cause.message.split("\n")[0]!}`);
  const { yes: _, ...always } = everywhere;
  const own = { ...command.options, ...(command.destructive ? everywhere : always) };
  const names = Object.keys(own).map((name) => `--${name}`);
  return fail(`\`tuntas ${command.name}\` has no option ${unknown}${meantHint(unknown, names)}`);
}

function checkArguments(call: Call): void {
  const specs = call.command.arguments ?? [];
  const missing = specs.find((spec, index) => spec.required && call.positionals[index] === undefined);
  if (missing) throw call.wrong(`${missing.name} is missing`);
  const most = specs.some((spec) => spec.many) ? Infinity : specs.length;
  if (call.positionals.length > most)
    throw call.wrong(`unexpected argument ${JSON.stringify(call.positionals[most])}`);
}

async function perform(words: readonly string[]): Promise<Answer | undefined> {
  const { command, rest } = findCommand(commands, words);
  const call = parse(command, rest);
  if (call.flag("help")) return { document: helpOf(command), text: helpOf(command) };
  checkArguments(call);
  if (command.destructive && !call.flag("yes")) {
    throw cliErrors.error("TUNTAS_CLI_UNCONFIRMED", `\`tuntas ${command.name}\` removes something for good`);
  }
  return command.run(call);
}

function asError(cause: unknown): TuntasError {
  if (isTuntasError(cause)) return cause;
  return cliErrors.error("TUNTAS_UNEXPECTED", cause instanceof Error ? cause.message : String(cause), {
    cause,
  });
}

/** Prints an error as code, what and remedy (as one JSON document under --json), and answers the exit status. */
export function printError(cause: unknown, json: boolean): 1 | 2 {
  const { code, message, remedy } = asError(cause);
  const error = { code, message, remedy };
  if (json) process.stdout.write(`${JSON.stringify({ error }, null, 2)}\n`);
  else process.stderr.write(`${code}: ${message}\n${remedy}\n`);
  return usageCodes.has(code) ? 2 : 1;
}

/** Runs one command line; answers its exit status. */
export async function run(words: readonly string[]): Promise<number> {
  if (words.length === 0 || words[0] === "--help" || words[0] === "-h")
    return run(["help", ...words.filter((word) => word === "--json")]);
  if (words[0] === "--version") return run(["version", ...words.slice(1)]);
  const json = words.includes("--json");
  try {
    const answer = await perform(words);
    if (answer) process.stdout.write(`${json ? JSON.stringify(answer.document, null, 2) : answer.text}\n`);
    return answer?.status ?? 0;
  } catch (cause) {
    return printError(cause, json);
  }
}

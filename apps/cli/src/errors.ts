import { catalogue, TuntasError } from "tuntas";

/** The errors of the command line itself. */
export const cliErrors = catalogue({
  TUNTAS_CLI_COMMAND: {
    meaning: "There is no such command.",
    remedy: "See all commands with: tuntas help",
  },
  TUNTAS_CLI_USAGE: {
    meaning: "A command was given an option or argument that it does not take, or lacks one that it needs.",
    remedy: "See what it takes with: tuntas help COMMAND",
  },
  TUNTAS_CLI_UNCONFIRMED: {
    meaning: "The command removes something, and nobody has said that this is meant.",
    remedy: "Run it again with --yes.",
  },
  TUNTAS_FILE_MISSING: {
    meaning: "A command was given a file that is not there.",
    remedy: "Correct the path; it is taken from the folder in which the command runs.",
  },
  TUNTAS_FILE_EXISTS: {
    meaning: "A file that a command was to write is there already. Nothing was written.",
    remedy: "Take another name, or move what is in the way.",
  },
  TUNTAS_APP_MISSING: {
    meaning: "The file does not export an application as its default.",
    remedy: "End it with: export default app({ … })",
  },
  TUNTAS_APP_FAILED: {
    meaning: "The application's file could not be loaded, or threw while it was loaded.",
    remedy: "Read the cause in the message, with its file and line, and correct it there.",
  },
  TUNTAS_TYPESCRIPT_UNSUPPORTED: {
    meaning: "This version of Node cannot run TypeScript.",
    remedy: "Use Node 22.6 or later, or build the file to JavaScript first.",
  },
  TUNTAS_QUEUE_PURGED_LATELY: {
    meaning: "The queue was purged within the last 60 seconds.",
    remedy: "Wait a minute and try again.",
    retryable: true,
  },
  TUNTAS_MOVE_RUNS: {
    meaning: "A move of this dead-letter queue's messages runs already.",
    remedy: "Wait until it has ended, or cancel it with CancelMessageMoveTask.",
    retryable: true,
  },
  TUNTAS_UNEXPECTED: {
    meaning: "Something went wrong that nobody has foreseen.",
    remedy: "Run `tuntas doctor`; if it finds nothing, report what you did and what the message says.",
  },
});

/** A command line that was not understood, with the help that belongs to it. */
export function usageError(commandName: string, message: string): TuntasError {
  const entry = cliErrors.entries.TUNTAS_CLI_USAGE;
  return new TuntasError(
    "TUNTAS_CLI_USAGE",
    message,
    { ...entry, remedy: entry.remedy.replace("COMMAND", commandName) },
    { details: { command: commandName } },
  );
}

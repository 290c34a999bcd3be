// The `tuntas` command.
import { run } from "./run.ts";

// A reader such as `head` may have had enough.
process.stdout.on("error", (cause: NodeJS.ErrnoException) => process.exit(cause.code === "EPIPE" ? 0 : 1));

// That Node itself calls a feature experimental is no part of a command's answer; all else that it warns of is told.
const warn = process.emitWarning.bind(process) as (...warning: readonly unknown[]) => void;
process.emitWarning = (...warning: readonly unknown[]) => {
  if (warning[1] !== "ExperimentalWarning") warn(...warning);
};

process.exitCode = await run(process.argv.slice(2));

// The `tuntas` command.
import { run } from "./run.ts";

// A reader such as `head` may have had enough.
process.stdout.on("error", (cause: NodeJS.ErrnoException) => process.exit(cause.code === "EPIPE" ? 0 : 1));

process.exitCode = await run(process.argv.slice(2));

// Runs command lines one after another as `tuntas` runs one. To load the code takes longer than most commands, and tests have many.
import { Readable } from "node:stream";
import { run } from "../../../lib/dist/apps/cli/run.js";

const printed = { stdout: "", stderr: "" };
for (const name of ["stdout", "stderr"])
  process[name].write = (chunk) => {
    printed[name] += String(chunk);
    return true;
  };

process.on("message", async ({ args, input }) => {
  printed.stdout = printed.stderr = "";
  Object.defineProperty(process, "stdin", { value: Readable.from([input]), configurable: true });
  const status = await run(args);
  process.send({ status, ...printed });
});

import { resolve } from "node:path";
import type { Command } from "../command.ts";
import { requireFile } from "../dev/load.ts";
import { superviseApplication } from "../dev/supervise.ts";
import { apiOptions, apisOf, portOf, portOptions } from "./serve.ts";

export const dev: Command = {
  name: "dev",
  summary: "Runs an application with the gateway beside it, and restarts it when a file changes.",
  arguments: [{ name: "FILE", required: true }],
  options: {
    ...portOptions,
    ...apiOptions,
    once: { meaning: "runs it without watching, and ends when it fails" },
  },
  examples: [
    ["tuntas dev app.js", "a module that ends with: export default app({ … })"],
    ["tuntas dev src/app.ts", "TypeScript, where Node runs it (22.6 or later)"],
  ],
  no: "it could not start",
  async run(call) {
    // The person at the terminal reads what the application says; the events go to a log collector.
    process.env.TUNTAS_LOG_LEVEL ??= "warn";
    const file = resolve(call.argument(0));
    requireFile(file);
    const host = call.text("host") ?? "127.0.0.1";
    const options = { file, port: portOf(call), host, apis: apisOf(call) };
    if (!call.flag("once")) return superviseApplication(options);
    const { runApplication } = await import("../dev/application.ts");
    return runApplication(options);
  },
};

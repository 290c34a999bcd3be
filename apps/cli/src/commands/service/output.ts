import { serviceErrors } from "tuntas/service";
import type { Command } from "../../command.ts";
import { withService } from "./lookup.ts";

export const serviceOutput: Command = {
  name: "service output",
  summary: "Shows the last that an instance of a service printed, also one that has ended, on its machine.",
  arguments: [
    { name: "SERVICE", required: true },
    { name: "INSTANCE", required: true },
  ],
  options: { bytes: { value: "N", meaning: "at most so many; 65536 by default" } },
  examples: [["tuntas service output orders-api 12", "why did it end?"]],
  no: "there is no such instance, or what it printed is not on this machine any more",
  run(call) {
    const instance = call.argument(1);
    if (!/^[1-9]\d{0,17}$/.test(instance))
      throw call.wrong(`expected the number of an instance, got ${JSON.stringify(instance)}`);
    const bytesMax = call.count("bytes", [1, 32 << 20]);
    return withService(call, async ({ services }, name) => {
      const { host } = await services.describe(name);
      const output = await services.output(name, instance, { bytesMax });
      if (output.status === "read") return { document: output, text: output.text.trimEnd() };
      throw serviceErrors.error(
        "TUNTAS_SERVICE_OUTPUT",
        `what instance ${instance} of ${name} printed is not here: expected ${output.path}, on ${host}`,
      );
    });
  },
};

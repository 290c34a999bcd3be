import type { Command } from "../../command.ts";
import { answerOf } from "./report.ts";
import { withService } from "./lookup.ts";

export const serviceDescribe: Command = {
  name: "service describe",
  summary:
    "Shows a service: its limits and scaling rule, its instances with why they stopped, its deployments.",
  arguments: [{ name: "SERVICE", required: true }],
  examples: [["tuntas service describe orders-api", "which revision runs, and why did an instance stop?"]],
  no: "there is no such service",
  run: (call) => withService(call, async ({ services }, name) => answerOf(await services.describe(name))),
};

import { resolve } from "node:path";
import type { Platform } from "tuntas";
import {
  checkConnections,
  revisionOf,
  type BudgetLine,
  type ConnectionBudget,
  type Revision,
} from "tuntas/service";
import type { Call, Command } from "../../command.ts";
import { loadApplication } from "../../dev/load.ts";
import { table } from "../../render.ts";
import { withPlatform } from "../../session.ts";

/** Those that the file declares, else those that are deployed and not stopped. */
async function servicesOf(call: Call, { services }: Platform): Promise<Record<string, Revision>> {
  const file = call.text("app");
  if (file !== undefined) {
    const parts = Object.values((await loadApplication(resolve(file))).parts);
    const declared = parts.filter((part) => part.kind === "service");
    return Object.fromEntries(declared.map((each) => [each.name, revisionOf(each)]));
  }
  const active = (await services.list()).filter((each) => each.active);
  const all = await Promise.all(active.map(({ name }) => services.describe(name)));
  return Object.fromEntries(all.map(({ name, definition }) => [name, definition]));
}

function textOf({ lines, others, total, available, fits }: ConnectionBudget): string {
  const rows = table(lines, {
    service: ({ service }: BudgetLine) => service,
    "at most": ({ instances }) => instances,
    "in a deployment": ({ surge }) => surge,
    "connections each": ({ each, declared }) => (declared ? each : `${each} (assumed: a process of Tuntas)`),
    together: ({ connections }) => connections,
  });
  const besides = `${others.processes} other processes × ${others.each} = ${others.connections}`;
  const verdict = fits
    ? "they fit, in the middle of every deployment at once."
    : `${total - available} too many: lower scaling.max, rollout.maximumPercent or the pools, raise max_connections, or put a pooler before it.`;
  return `${rows}\n${besides}\n${total} of ${available} connections: ${verdict}`;
}

export const budgetCheck: Command = {
  name: "budget check",
  summary:
    "Compares the connections that services may open, old and new instances of a deployment together, with what the server has.",
  options: { app: { value: "FILE", meaning: "the services of this application, before they are deployed" } },
  examples: [
    ["tuntas budget check", "do all that are deployed fit, in the middle of a deployment?"],
    ["tuntas budget check --app app.mjs", "would these?"],
  ],
  no: "they could not all connect at the worst moment",
  run: (call) =>
    withPlatform(async (platform) => {
      const budget = await checkConnections(platform.database, await servicesOf(call, platform));
      if (!budget)
        return {
          document: { pooled: true },
          text: "A pooler stands before the database, and counts itself.",
        };
      return { document: budget, text: textOf(budget), status: budget.fits ? 0 : 1 };
    }),
};

// Whether somebody looks if a workflow and the data that it works on still agree.
import type { Declared, Sighting } from "./contract.ts";

export function checkReconciled({ workflows, reconciliations }: Declared): Sighting[] {
  const watched = new Set(
    reconciliations.flatMap(({ options: { of } }) => (of.kind === "workflow" ? [of.name] : [])),
  );
  return workflows
    .filter(({ name, options }) => options.type !== "EXPRESS" && !watched.has(name))
    .map(({ name, place }) => ({
      rule: "workflow-unreconciled",
      name,
      place,
      message: `${name}: no reconciliation is declared of it`,
    }));
}

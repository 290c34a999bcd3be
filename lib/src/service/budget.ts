// Database connections against those that the server has, at the worst moment: every service at the top of its scaling
// rule, in the middle of a deployment, where old and new instances run side by side.
import { readBudget } from "../pg/budget.ts";
import { statement, type Database } from "../pg/database.ts";
import type { Revision } from "./contract.ts";
import { roomOf } from "./state.ts";

export interface BudgetLine {
  readonly service: string;
  /** At the top of its scaling rule. */
  readonly instances: number;
  /** As many as its roll-out lets run at a time. */
  readonly surge: number;
  readonly each: number;
  /** False where the service does not say, and a process of Tuntas is assumed. */
  readonly declared: boolean;
  readonly connections: number;
}

export interface ConnectionBudget {
  readonly lines: readonly BudgetLine[];
  /** Live processes that are no instances. */
  readonly others: { readonly processes: number; readonly each: number; readonly connections: number };
  readonly total: number;
  readonly available: number;
  readonly fits: boolean;
}

type Budgeted = Pick<Revision, "connections" | "rollout" | "scaling">;

function lineOf(
  service: string,
  { connections, rollout, scaling }: Budgeted,
  perProcess: number,
): BudgetLine {
  const surge = roomOf(rollout, scaling.max).most;
  const each = connections ?? perProcess;
  const declared = connections !== undefined;
  return { service, instances: scaling.max, surge, each, declared, connections: surge * each };
}

export function budgetOf(
  services: Readonly<Record<string, Budgeted>>,
  of: { readonly perProcess: number; readonly others: number; readonly available: number },
): ConnectionBudget {
  const { perProcess, available } = of;
  const lines = Object.entries(services).map(([name, definition]) => lineOf(name, definition, perProcess));
  const others = { processes: of.others, each: perProcess, connections: of.others * perProcess };
  const total = lines.reduce((sum, { connections }) => sum + connections, others.connections);
  return { lines, others, total, available, fits: total <= available };
}

const instancesText = statement(
  `select count(*)::int as count from tuntas.process p where p.expires_at > tuntas.now() and exists (
     select from tuntas.service_instance i where i.state = 'running' and i.pid = p.pid)`,
);

/** Undefined behind a pooler, which has its own count. The process that asks is not counted. */
export async function checkConnections(
  database: Database,
  services: Readonly<Record<string, Budgeted>>,
): Promise<ConnectionBudget | undefined> {
  const read = await readBudget(database);
  if (!read) return undefined;
  const [instances] = await database.run<{ count: number }>(instancesText);
  const others = Math.max(0, read.processes - instances!.count - 1);
  return budgetOf(services, { ...read, others });
}

// Declared endpoints as the database keeps them: who answers for what an endpoint refuses, for whoever looks at it elsewhere.
import { statement } from "../pg/database.ts";
import type { Runner } from "../pg/join.ts";
import type { EndpointDefinition } from "./contract.ts";

const keep = statement(
  `insert into tuntas.endpoint as e (name, owner, runbook) select * from unnest($1::text[], $2::text[], $3::text[]) u order by 1
   on conflict (name) do update set owner = excluded.owner, runbook = excluded.runbook
     where (e.owner, e.runbook) is distinct from (excluded.owner, excluded.runbook)`,
);

/** Keeps whose they are. */
export async function declareEndpoints(sql: Runner, all: readonly EndpointDefinition[]): Promise<void> {
  if (all.length === 0) return;
  await sql.run(keep, [
    all.map(({ name }) => name),
    all.map(({ options }) => options.owner),
    all.map(({ options }) => options.runbook),
  ]);
}

export interface OwnedEndpoint {
  readonly name: string;
  readonly owner: string;
  readonly runbook: string;
}

const list = statement(`select name, owner, runbook from tuntas.endpoint order by name`);

export const listEndpoints = (sql: Runner): Promise<OwnedEndpoint[]> => sql.run<OwnedEndpoint & {}>(list);

/** Of the target of a row of `of`: who answers for it, and what they read; null where no endpoint of that name is declared. */
export const ownedColumns = (of: string): string =>
  (["owner", "runbook"] as const)
    .map(
      (column) =>
        `(select p.${column} from tuntas.endpoint p where ${of}.target_kind = 'http' and p.name = ${of}.target_name) as ${column}`,
    )
    .join(", ");

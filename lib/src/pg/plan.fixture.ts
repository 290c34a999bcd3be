// How the database plans a statement of a store: prepared, in one session, as the store would run it.
import type { Sql, Statement } from "./contract.ts";
import { statement, type Database } from "./database.ts";

/** The statement and its values, as the store would run them. */
async function captured(
  work: (sql: Pick<Sql, "run">) => Promise<unknown>,
): Promise<[Statement, readonly unknown[]]> {
  let seen!: [Statement, readonly unknown[]];
  await work({
    run: (of, values = []) => {
      seen = [of, values];
      return Promise.resolve([]);
    },
  });
  return seen;
}

const literal = (value: unknown): string => {
  if (Buffer.isBuffer(value)) return "null"; // an array as it is sent; the plan is the same for all
  if (Array.isArray(value)) return `'{${value.join(",")}}'`;
  return value === null ? "null" : typeof value === "string" ? `'${value}'` : String(value);
};

let plans = 0;

/** The plan of the last statement that the work runs; what it makes of the rows, of which it gets none, is of no account. */
export async function planOf(
  database: Database,
  work: (sql: Pick<Sql, "run">) => Promise<unknown>,
  options = "costs off",
): Promise<string> {
  const [of, values] = await captured((sql) => work(sql).catch(() => undefined));
  const name = `plan_${plans++}`;
  const rows = await database.transaction(async (tx) => {
    await tx.run(statement(`prepare ${name} as ${of.text}`));
    return tx.run<Record<string, string>>(
      statement(`explain (${options}) execute ${name}(${values.map(literal).join(", ")})`),
    );
  });
  return rows.map((row) => row["QUERY PLAN"]).join("\n");
}

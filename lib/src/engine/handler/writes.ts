// Statements that handlers handed over, committed in one round trip with what ends their work.
import type { PoolClient } from "pg";
import { burst, type BurstStatement } from "../../pg/burst.ts";
import type { Database } from "../../pg/database.ts";
import { dropClient } from "../../pg/wire.ts";
import { beginning, committing, forgetLimits } from "./begin.ts";
import type { Write } from "./contract.ts";
import type { Prepared } from "./transaction.ts";

export interface WritesToCommit {
  /** Before the handlers' statements: where a fence is lost, they fail with it, unrun. */
  readonly closing: readonly Prepared[];
  readonly writes: readonly Write[];
  readonly timeoutMs: number;
}

/** Prepared under a name, once it comes again and again. */
export const named = ({ names }: Pick<Database, "names">, { text, values }: Write): BurstStatement => ({
  name: names.of(text),
  text,
  values,
  rows: undefined,
});

/** Lends a connection; whatever fails on it is rolled back. */
export async function onHandlerClient<T>(
  database: Database,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  // For as long as handlers may hold them all: what is to be committed here is done already, and is in no transaction yet.
  const client = await database.handlerClient(Infinity);
  try {
    const result = await work(client);
    client.release();
    return result;
  } catch (cause) {
    await client.query("rollback").then(
      () => client.release(),
      () => dropClient(client),
    );
    throw cause;
  }
}

async function send(
  database: Database,
  client: PoolClient,
  { closing, writes, timeoutMs }: WritesToCommit,
): Promise<void> {
  const { statements: begun, committed } = beginning(database, client, timeoutMs);
  forgetLimits(client, writes);
  const { command, failure } = await burst(client, [
    ...begun,
    ...closing.map(({ statement, values }) => database.bind(statement, values)),
    ...writes.map((write) => named(database, write)),
    committing(database),
  ]);
  if (failure) throw closing[failure.at - begun.length]?.meaning?.(failure.cause) ?? failure.cause;
  if (command !== "COMMIT") throw new Error("the shared transaction had failed before its commit");
  committed();
}

/** Commits all of it, or rejects with the first failure; nothing was written then, unless the connection was lost. */
export const commitWrites = (database: Database, all: WritesToCommit): Promise<void> =>
  onHandlerClient(database, (client) => send(database, client, all));

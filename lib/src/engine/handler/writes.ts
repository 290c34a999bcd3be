// Statements that handlers handed over, committed in one round trip with what ends their work.
import type { PoolClient } from "pg";
import { burst } from "../../pg/burst.ts";
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
    ...writes.map(({ text, values }) => ({
      name: database.names.of(text),
      text,
      values,
      rows: undefined,
    })),
    committing(database),
  ]);
  if (failure) throw closing[failure.at - begun.length]?.meaning?.(failure.cause) ?? failure.cause;
  if (command !== "COMMIT") throw new Error("the shared transaction had failed before its commit");
  committed();
}

/** Commits all of it, or rejects with the first failure; nothing was written then, unless the connection was lost. */
export async function commitWrites(database: Database, all: WritesToCommit): Promise<void> {
  const client = await database.handlerClient();
  let broken = true;
  try {
    await send(database, client, all);
    broken = false;
  } catch (cause) {
    broken = await client.query("rollback").then(
      () => false,
      () => true,
    );
    throw cause;
  } finally {
    if (broken) dropClient(client);
    else client.release();
  }
}

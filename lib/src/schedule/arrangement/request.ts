// A request that may be sent again: with a token it is carried out once, and a repeat gets the first answer.
import type { Tx, Sql } from "../../pg/contract.ts";
import { once } from "../../ledger/index.ts";
import type { Scope } from "../../queue/contract.ts";
import type { Asker } from "../contract.ts";

export interface Asked {
  readonly verb: string;
  readonly scope: Scope;
  readonly asker: Asker;
  /** What is asked for. The same token with another request is a conflict. */
  readonly request: unknown;
}

export async function answerOnce<Status extends string>(
  database: Sql,
  { verb, scope, asker: { token }, request }: Asked,
  work: (tx: Tx) => Promise<Status>,
): Promise<Status | "conflict"> {
  return database.transaction(async (tx) => {
    if (token === undefined) return work(tx);
    const command = { scope: `scheduler.${verb} ${scope.account} ${scope.region}`, key: token, request };
    const answer = await once<string>(tx, { ...command, retention: "1d" }, () => work(tx));
    return answer.status === "conflict" ? answer.status : (answer.result as Status);
  });
}

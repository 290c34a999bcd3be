// The asking side: people, their sessions, keys of machines, what is sensitive, and the record of acts.
import type { Sql } from "../pg/contract.ts";
import type { Runner } from "../pg/join.ts";
import type { AuditEntry, AuditFilter, AuditRecord, Payload, PayloadKind } from "./contract.ts";
import { accessErrors } from "./contract.ts";
import { isLoopback } from "./http.ts";
import type { Keys } from "./keys.ts";
import { makeKeys } from "./keys.ts";
import * as store from "./store.ts";
import type { Sessions, Users } from "./users.ts";
import { makeSessions, makeUsers } from "./users.ts";

export interface Access {
  readonly users: Users;
  readonly sessions: Sessions;
  readonly keys: Keys;
  /** How many users and working keys there are, at most 3 s ago. */
  count(): Promise<{ readonly users: number; readonly keys: number }>;
  /** Refuses to listen beyond this machine while anybody could do everything. Errors: TUNTAS_ACCESS_OPEN. */
  checkHost(host: string, variable: string): Promise<void>;
  /** Puts an act on the record; give the act's own transaction where there is one. */
  audit(entry: AuditEntry, sql?: Runner): Promise<void>;
  /** What was done, the newest first; the next page comes before the last one's id. */
  record(
    filter: AuditFilter,
    page: { readonly before?: string | undefined; readonly limit: number },
  ): Promise<AuditRecord[]>;
  /** What a queue's messages, a stream's records, a workflow's or a batch's inputs are; nothing is known of what no code has declared. */
  payload(kind: PayloadKind, name: string): Promise<Payload>;
  declarePayloads(kind: PayloadKind, of: ReadonlyMap<string, Payload>): Promise<void>;
}

export interface AccessOptions {
  readonly database: Sql;
  /** What the keys' secrets are derived from (TUNTAS_ACCESS_SECRET); one in the database where undefined. */
  readonly installationSecret?: string | undefined;
}

const freshMs = 3000;
/** Above every id. */
const newest = "9223372036854775807";

export function makeAccess({ database, installationSecret }: AccessOptions): Access {
  let counted: Promise<{ users: number; keys: number }> | undefined;
  let countedAt = -Infinity;

  function count(): Promise<{ users: number; keys: number }> {
    if (counted && performance.now() - countedAt < freshMs) return counted;
    countedAt = performance.now();
    return (counted = store.countAccess(database).catch((cause: unknown) => {
      counted = undefined;
      throw cause;
    }));
  }

  return {
    users: makeUsers(database, () => (counted = undefined)),
    sessions: makeSessions(database),
    keys: makeKeys(database, installationSecret),
    count,
    async checkHost(host, variable) {
      if (isLoopback(host)) return;
      const { users, keys } = await store.countAccess(database);
      if (users + keys > 0) return;
      throw accessErrors.error(
        "TUNTAS_ACCESS_OPEN",
        `${variable} is ${JSON.stringify(host)}, which others can reach, and there is neither a user nor a key`,
        { details: { host } },
      );
    },
    audit: async (entry, sql = database) => void (await store.insertAudit(sql, entry)),
    record: (filter, { before = newest, limit }) => store.listRecord(database, filter, { before, limit }),
    payload: (kind, name) => store.findPayload(database, kind, name),
    declarePayloads: async (kind, of) =>
      void (of.size > 0 && (await store.declarePayloads(database, kind, of))),
  };
}

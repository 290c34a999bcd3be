// Messages of which a handler made a call whose end nobody knows. To replay one could do the same thing outside twice, so
// it is left where it lies until the side effect is settled.
import { unknownCallers } from "../../ledger/index.ts";
import type { Database } from "../../pg/database.ts";
import type { Tx } from "../../pg/contract.ts";
import type { Scope, TriageFilter } from "../contract.ts";
import { findCandidates, tallySelection, type Candidate, type Tally } from "../store/triage.ts";

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const namedMax = 1000;

export interface Unsettled {
  readonly messageIds: readonly string[];
  readonly tally: readonly Tally[];
}

/** Those of the selection that no other rule forbids to replay. */
export async function findUnsettled(
  database: Database,
  scope: Scope,
  filter: TriageFilter,
): Promise<Unsettled> {
  const callers = await unknownCallers(database, filter.messageIds);
  const messageIds = callers.filter((caller) => uuid.test(caller));
  if (messageIds.length === 0) return { messageIds, tally: [] };
  const among = { ...filter, messageIds };
  const page = { after: "0", limit: namedMax, forbiddenToo: false };
  const found = await findCandidates(database, scope, among, page);
  const tally = await tallySelection(database, scope, among);
  return {
    messageIds: found.map((item) => item.messageId),
    tally: tally.filter((row) => row.forbidden === null),
  };
}

/** What of a slice may be replayed at this moment. */
export async function settledOf(
  tx: Tx | Database,
  slice: readonly Candidate[],
): Promise<readonly Candidate[]> {
  const ids = slice.map((item) => item.messageId);
  const unsettled = new Set(await unknownCallers(tx, ids));
  return slice.filter((item) => !unsettled.has(item.messageId));
}

// What every part of the ledger shares with its callers: the error codes.
import { catalogue } from "../core/error.ts";

export const ledgerErrors = catalogue({
  TUNTAS_REQUEST_INVALID: {
    meaning: "A request or a result cannot be written as JSON text, or a key is empty or too long.",
    remedy:
      "Give plain JSON values (no functions, bigints, NaN or cycles) and keys of 1 to 512 characters without NUL.",
  },
  TUNTAS_COMMAND_CONFLICT: {
    meaning: "The key was used before, for another request.",
    remedy: "Use a new key for a new request; send the same request to get the stored result.",
  },
  TUNTAS_COMMAND_IN_PROGRESS: {
    meaning: "Another transaction is working on this key at the moment.",
    remedy: "Try again shortly: the stored result will be there, or the key will be free.",
    retryable: true,
  },
  TUNTAS_RECONCILIATION_OPTIONS: {
    meaning: "A reconciliation is declared with an option that is missing, wrong or unknown.",
    remedy: "Correct the options that the message names.",
  },
  TUNTAS_TX_MISSING: {
    meaning: "The client is not in a transaction, so the record would not commit together with the change.",
    remedy: "Run `begin` on the client first, or use the transaction that your query builder hands you.",
  },
  TUNTAS_EFFECT_IN_TRANSACTION: {
    meaning:
      "A side effect was asked for while a transaction was open; its connection and locks would wait for the provider.",
    remedy: "Call `effect` before the first use of ctx.tx, or after the commit.",
  },
  TUNTAS_EFFECT_IN_PROGRESS: {
    meaning: "Somebody else is making this call at the moment.",
    remedy: "Try again once its deadline has passed.",
    retryable: true,
  },
  TUNTAS_EFFECT_CONFLICT: {
    meaning: "The side effect's key was used before, for another request.",
    remedy: "Use a new key for a new request.",
  },
  TUNTAS_EFFECT_UNKNOWN: {
    meaning: "Nobody can say whether an earlier call took effect, so it is not made again.",
    remedy:
      "Declare `reconcile` for the operation, or settle the row by hand once the provider has been asked.",
    retryable: true,
  },
  TUNTAS_EFFECT_MISSING: {
    meaning: "There is no side effect with this id.",
    remedy: "List them with `tuntas effect list --all`.",
  },
  TUNTAS_EFFECT_FAILED: {
    meaning: "The provider refused the call, or could not be reached at all; it had no effect.",
    remedy: "See the failure's own code; a call that never arrived is made again by the next attempt.",
    retryable: true,
  },
  TUNTAS_EFFECT_REFUSED: {
    meaning: "The provider answered with a final no, which is stored and given to every repeat.",
    remedy: "Change the request and use a new key, or treat it as a business rejection.",
  },
  TUNTAS_EFFECT_REPLAY: {
    meaning:
      "A backfill's handler was about to make a side effect for a record of long ago; the call was not made.",
    remedy: "Leave the call out where the handler is a backfill's: what it works on is no news to anybody.",
  },
  TUNTAS_EFFECT_THROTTLED: {
    meaning: "The provider's rate limit leaves no room within the time given; the call was not made.",
    remedy: "Try again later, or raise `perSecond` if the provider allows it.",
    retryable: true,
  },
  TUNTAS_REDRIVE_REFUSED: {
    meaning: "A redrive or a replay was asked for while a side effect of the work is unknown.",
    remedy:
      "Find out what became of each (`tuntas effect show ID`), settle it (`tuntas effect settle ID`), then do it again.",
  },
  TUNTAS_RESERVATION_EXPIRED: {
    meaning: "The reservation's time was over before it was confirmed or renewed.",
    remedy: "Reserve anew; renew a reservation that must outlive a wait.",
  },
  TUNTAS_RESERVATION_STATE: {
    meaning: "The reservation is in a state that this act does not start from.",
    remedy: "Only a reserved one can be confirmed, renewed or released.",
  },
  TUNTAS_RESERVATION_MISSING: {
    meaning: "There is no reservation with this id.",
    remedy: "Use the id that `reserve` answered.",
  },
  TUNTAS_RESERVATION_BUSY: {
    meaning: "Other transactions are reserving the same resource at the moment.",
    remedy: "Try again shortly.",
    retryable: true,
  },
  TUNTAS_LEASE_LOST: {
    meaning: "The lease ran out or belongs to another owner; nothing was changed.",
    remedy: "Stop working on it; whoever holds it now goes on.",
  },
  TUNTAS_LEASE_STATE: {
    meaning: "A lease was to be taken from its holder, but nobody holds it.",
    remedy: "See who holds what with `tuntas lease list`.",
  },
  TUNTAS_COMPENSATION_MISSING: {
    meaning: "An undo is registered that nobody has declared where the work was to be undone.",
    remedy: "Give it to `compensate`, with its old name; then `tuntas compensation retry ID`.",
  },
  TUNTAS_COMPENSATION_STATE: {
    meaning: "The undo is not parked, or does not exist.",
    remedy: "List those that wait for a person with `tuntas compensation list`.",
  },
  TUNTAS_REPAIR_UNAPPROVED: {
    meaning: "A repair was asked for that nobody has approved.",
    remedy: "Approve the discrepancy first, with a name and a reason.",
  },
  TUNTAS_DISCREPANCY_STATE: {
    meaning: "The discrepancy does not exist, was decided before, or has no repair.",
    remedy: "List the standing discrepancies and decide one of those.",
  },
});

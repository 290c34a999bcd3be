// Taking a message in once, by where it came from and its id there, in the caller's transaction. An inbox entry is a
// command record without a result.
import { refuseUnknown, type NamesOf } from "../core/options.ts";
import type { Duration } from "../core/duration.ts";
import type { Transaction } from "../pg/join.ts";
import type { OnceAnswer } from "./command/once.ts";
import { once } from "./command/once.ts";

export interface InboxOptions {
  /** Who sent it: a topic, a provider, a queue of another system. */
  readonly source: string;
  /** The sender's id of the message, the same at every delivery. */
  readonly id: string;
  /** How long it is remembered; longer than the sender redelivers. 30 days by default. */
  readonly retention?: Duration;
}

const optionNames: NamesOf<InboxOptions> = { source: true, id: true, retention: true };

/**
 * Runs `fn` for the first delivery only; a repeat answers `duplicate` with the first result. The id alone decides: a
 * redelivery may be framed differently. Errors: as of `once`.
 */
export function takeIn<T>(
  tx: Transaction,
  options: InboxOptions,
  fn: () => Promise<T> | T,
): Promise<OnceAnswer<T>> {
  refuseUnknown("takeIn", options, optionNames);
  const { source, id, ...rest } = options;
  return once(tx, { scope: `inbox:${source}`, key: id, request: null, ...rest }, fn);
}

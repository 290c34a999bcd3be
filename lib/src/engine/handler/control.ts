// What a handler may not say in SQL: its transaction is begun and ended by whoever called it. The same few texts come
// again and again, so what was looked at once is not looked at again.
import { bareSql, controlsTransaction } from "../../core/sql-text.ts";
import { handlerErrors, type Write } from "./contract.ts";

const savepoint = /\b(savepoint|release|rollback)\b/i;
const limit = /\b(lock_timeout|statement_timeout|reset|discard)\b/i;

interface Seen {
  /** Whether it would begin or end a transaction; quoted text and comments do not count. */
  readonly controls: boolean;
  /** Whether it names savepoints; what shares a commit has its own. */
  readonly namesSavepoint: boolean;
  /** Whether it may change how long statements of the session wait and run. */
  readonly changesLimits: boolean;
  /** Whether it may be more than one statement. */
  readonly several: boolean;
}

function look(text: string): Seen {
  const bare = bareSql(text);
  return {
    controls: controlsTransaction(bare),
    namesSavepoint: savepoint.test(bare),
    // A name may stand in quotes, as set_config has it.
    changesLimits: limit.test(text),
    several: /;\s*\S/.test(bare),
  };
}

const seen = new Map<string, Seen>();
const seenMax = 1000;
/** A longer text is hardly written by hand, so it will hardly come again. */
const lengthMax = 4000;

/** What is to be known of a text before it is run. */
export function inspect(text: string): Seen {
  const known = seen.get(text);
  if (known) return known;
  const found = look(text);
  if (text.length > lengthMax) return found;
  if (seen.size >= seenMax) seen.clear();
  seen.set(text, found);
  return found;
}

/** Whether the text would begin or end a transaction. */
export const isTransactionControl = (text: string): boolean => inspect(text).controls;

/** A statement as it will be run later. Errors: TUNTAS_TX_CONTROL. */
export function handedOver(text: string, values: readonly unknown[]): Write {
  const { controls, namesSavepoint } = inspect(text);
  if (controls || namesSavepoint) {
    throw handlerErrors.error(
      "TUNTAS_TX_CONTROL",
      `ctx.write refuses transaction control and savepoints, got ${JSON.stringify(text.slice(0, 60))}`,
    );
  }
  return { text, values };
}

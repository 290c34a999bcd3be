// What a handler may not say in SQL: its transaction is begun and ended by whoever called it.
import { handlerErrors, type Write } from "./contract.ts";

const control =
  /(^|;)\s*(begin|commit|end|abort|start\s+transaction|prepare\s+transaction|rollback(?!(\s+(work|transaction))?\s+to))\b/i;
const quoted = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\$([A-Za-z_]*)\$[\s\S]*?\$\1\$|--[^\n]*|\/\*[\s\S]*?\*\//g;

/** Whether the text would begin or end a transaction; quoted text and comments do not count. */
export const isTransactionControl = (text: string): boolean => control.test(text.replaceAll(quoted, " "));

/** Whether the text names savepoints; what shares a commit has its own. */
const namesSavepoint = (text: string): boolean =>
  /\b(savepoint|release|rollback)\b/i.test(text.replaceAll(quoted, " "));

// The same few texts come again and again, so what was looked at once is not looked at again.
const allowed = new Set<string>();
const allowedMax = 1000;

/** A statement as it will be run later. Errors: TUNTAS_TX_CONTROL. */
export function handedOver(text: string, values: readonly unknown[]): Write {
  if (allowed.has(text)) return { text, values };
  if (isTransactionControl(text) || namesSavepoint(text)) {
    throw handlerErrors.error(
      "TUNTAS_TX_CONTROL",
      `ctx.write refuses transaction control and savepoints, got ${JSON.stringify(text.slice(0, 60))}`,
    );
  }
  if (allowed.size >= allowedMax) allowed.clear();
  allowed.add(text);
  return { text, values };
}

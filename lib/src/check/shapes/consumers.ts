// What consumers of streams do for each record, while all that stands behind it in its partition waits.
import type { ConsumerDefinition } from "../../stream/contract.ts";
import { isAnnouncement, isOutward, isRequest, readHandler, type MadeCall } from "../calls.ts";
import type { Declared, Sighting } from "../contract.ts";
import { checkTransactions } from "../transactions.ts";

/** A message that is sent in the handler's transaction is a row of it. */
const isRow = ({ callee, arguments: given }: MadeCall): boolean =>
  /\.(send|append|start)$/.test(callee) && given.length > 1;

const isSlow = (call: MadeCall): boolean =>
  isRequest(call) || isAnnouncement(call) || (isOutward(call) && !isRow(call));

function checkConsumer({ name, stream, place, options }: ConsumerDefinition): Sighting[] {
  const code = readHandler(options.handle ?? options.handleBatch);
  if (!code) return [];
  const whole = `${stream.name}/${name}`;
  const slow = code.calls.filter(isSlow).map(({ callee }): Sighting => ({
    rule: "slow-ordered-handler",
    name: whole,
    place,
    message: `${whole}: ${callee}(…) is called for each record, one after another`,
  }));
  return [...slow, ...checkTransactions({ name: whole, code, placeOf: () => place })];
}

export const checkConsumers = ({ consumers }: Declared): Sighting[] => consumers.flatMap(checkConsumer);

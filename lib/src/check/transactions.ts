// What a handler does while its transaction is open: there it should do nothing but write.
import type { Sighting } from "./contract.ts";
import type { RuleId } from "./rules.ts";
import {
  isAnnouncement,
  isInTransaction,
  isQuery,
  isRequest,
  type HandlerCode,
  type MadeCall,
} from "./calls.ts";
import { literalOf } from "./syntax.ts";

/** A handler of a queue or of a workflow's task. */
export interface Handling {
  readonly name: string;
  readonly code: HandlerCode;
  /** The place of a line of the handler. */
  readonly placeOf: (line: number) => string | undefined;
}

const begins = /^\s*(begin|start\s+transaction)\b/i;
const ends = /^\s*(commit|rollback|end)\b/i;

const says = (call: MadeCall, pattern: RegExp): boolean =>
  isQuery(call) && pattern.test(String(literalOf(call.arguments[0])));

/** What is called between the opening of a transaction and its end, with the call that opened it. */
function held(
  calls: readonly MadeCall[],
): { readonly opened: MadeCall; readonly inside: readonly MadeCall[] } | undefined {
  const opened = calls.find((call) => isInTransaction(call) || says(call, begins));
  if (!opened) return undefined;
  const after = calls.filter(({ position }) => position > opened.position);
  const end = says(opened, begins) ? after.findIndex((call) => says(call, ends)) : -1;
  return { opened, inside: end < 0 ? after : after.slice(0, end) };
}

/** Waits for somebody: a person, another system, an event. */
const waits = /(^|\.)(waitFor\w*|waitUntil\w*|poll(For|Until)\w*|sleep|delay|once)$/;

const rulesOf: readonly [RuleId, (call: MadeCall) => boolean, (callee: string, opener: string) => string][] =
  [
    [
      "outside-call-in-transaction",
      (call) => isRequest(call) || isAnnouncement(call),
      (callee, opener) => `${callee}(…) is called after ${opener}(…) has opened the transaction`,
    ],
    [
      "wait-in-transaction",
      ({ callee }) => waits.test(callee),
      (callee, opener) => `${callee}(…) waits while the transaction is held that ${opener}(…) has opened`,
    ],
  ];

export function checkTransactions({ name, code, placeOf }: Handling): Sighting[] {
  const found = held(code.calls);
  if (!found) return [];
  return rulesOf.flatMap(([rule, isMeant, saying]) =>
    found.inside.filter(isMeant).map(({ callee, line }) => ({
      rule,
      name,
      place: placeOf(line),
      message: `${name}: ${saying(callee, found.opened.callee)}`,
    })),
  );
}

// Codes of outcomes are labels of metrics: one that is put together from data makes a new series for each message.
import type { Sighting } from "./contract.ts";
import { literalOf, propertyOf, textOf, type Tree } from "./syntax.ts";
import type { Handling } from "./transactions.ts";

const outcomes = /(^|\.)(retry|conflict|rejected|poison|unknown)$/;

/** `code: "A_" + id` or `A_${id}`; a name is let pass, since nobody sees from here what it stands for. */
const isPutTogether = (code: Tree | undefined): code is Tree =>
  (code?.type === "TemplateLiteral" && literalOf(code) === undefined) ||
  (code?.type === "BinaryExpression" && code.operator === "+");

const shown = (code: Tree): string =>
  code.type === "TemplateLiteral" ? ` (${JSON.stringify(textOf(code))} and what is put in)` : "";

export const checkLabels = ({ name, code: { calls }, placeOf }: Handling): Sighting[] =>
  calls.flatMap(({ callee, arguments: [because], line }) => {
    const code = outcomes.test(callee) ? propertyOf(because, "code") : undefined;
    if (!isPutTogether(code)) return [];
    const message = `${name}: the code of ${callee}(…) is put together from data${shown(code)}`;
    return [{ rule: "label-without-bound", name, place: placeOf(line), message }];
  });

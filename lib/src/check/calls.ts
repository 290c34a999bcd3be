// The calls that a handler makes, and what becomes of their promises.
import {
  functionTree,
  functionTypes,
  literalOf,
  mayHave,
  nameOf,
  propertyOf,
  walk,
  type Found,
  type Tree,
} from "./syntax.ts";

export interface MadeCall {
  /** Such as `ctx.tx.query`. */
  readonly callee: string;
  readonly arguments: readonly Tree[];
  /** Lines below the first of the handler. */
  readonly line: number;
  readonly position: number;
  /** Made by the handler itself, not by a function inside it. */
  readonly direct: boolean;
  /** Nobody waits for it: it may still run when the handler has returned. */
  readonly floating: boolean;
}

/** These call the function that they are given and wait for nothing. */
const neverWaits = /(^|\.)(setTimeout|setImmediate|setInterval|queueMicrotask|nextTick|forEach)$/;
const handOvers = /\.(then|catch|finally)$/;

const isCallOf = (node: Tree | undefined, pattern: RegExp): boolean =>
  node?.type === "CallExpression" && pattern.test(nameOf(node.callee as Tree));

/** Whether a function inside the handler is given to something that does not wait for it. */
function isDropped(parents: readonly Tree[]): boolean {
  const index = parents.findIndex((node) => functionTypes.has(node.type));
  // The last of them is the handler itself.
  if (index < 0 || index === parents.length - 1) return false;
  return isCallOf(parents[index + 1], neverWaits) || isDropped(parents.slice(index + 1));
}

/** Whether nothing takes the promise of the expression that stands in these, the nearest first. */
function isDiscarded([parent, ...further]: readonly Tree[]): boolean {
  if (!parent) return false;
  if (parent.type === "ExpressionStatement") return true;
  if (parent.type === "UnaryExpression") return parent.operator === "void";
  // promise.then(…): what becomes of that.
  const chained = parent.type === "MemberExpression" && isCallOf(further[0], handOvers);
  return (chained || parent.type === "ChainExpression") && isDiscarded(chained ? further.slice(1) : further);
}

function callOf({ node, parents }: Found, firstLine: number): MadeCall {
  const functions = parents.filter((each) => functionTypes.has(each.type));
  return {
    callee: nameOf(node.callee as Tree),
    arguments: node.arguments as Tree[],
    line: (node.loc?.start.line ?? firstLine) - firstLine,
    position: node.start,
    direct: functions.length === 1,
    floating: isDiscarded(parents) || isDropped(parents),
  };
}

export interface HandlerCode {
  readonly tree: Tree;
  readonly calls: readonly MadeCall[];
}

export function readHandler(handle: unknown): HandlerCode | undefined {
  const tree = functionTree(handle);
  if (!tree) return undefined;
  const firstLine = tree.loc?.start.line ?? 1;
  const calls = [...walk(tree)]
    .filter(({ node }) => node.type === "CallExpression")
    .map((found) => callOf(found, firstLine));
  return { tree, calls };
}

const clients = String.raw`(?:axios|got|ky)`;
const request = new RegExp(String.raw`^(?:globalThis\.)?fetch$|^${clients}(?:\.\w+)?$`);
const changing = /^(POST|PUT|PATCH|DELETE)$/i;
const changingMethod = new RegExp(String.raw`^${clients}\.(post|put|patch|delete)$`);

export const isQuery = ({ callee }: MadeCall): boolean => /(^|\.)query$/.test(callee);
export const isInTransaction = ({ callee }: MadeCall): boolean => /(^|\.)tx\.query$/.test(callee);
export const isWrite = ({ callee }: MadeCall): boolean => /(^|\.)write$/.test(callee);
export const isRequest = ({ callee }: MadeCall): boolean => request.test(callee);

const starting = /(^|\.)(startExecution|putEvents)$/;
const startingCommand = /^(StartExecution|StartSyncExecution|PutEvents)Command$/;

/** What begins an execution or tells of an event elsewhere, by an AWS client: before the commit nobody knows whether it is true. */
export const isAnnouncement = (call: MadeCall): boolean =>
  starting.test(call.callee) ||
  call.arguments.some(
    (each) => each.type === "NewExpression" && startingCommand.test(nameOf(each.callee as Tree)),
  );

export const isChangingRequest = (call: MadeCall): boolean =>
  changingMethod.test(call.callee) ||
  (isRequest(call) &&
    call.arguments.some((each) => changing.test(String(literalOf(propertyOf(each, "method"))))));

const outward = /^(effect|\w+\.(call|send|sendMessage|publish|invoke))$/;

/** A call of the handler itself that changes something elsewhere: a request, a side effect of the ledger, a message, an event. */
export const isOutward = (call: MadeCall): boolean =>
  call.direct && (isChangingRequest(call) || outward.test(call.callee));

/** What gives a promise for sure, so that not waiting for it is a mistake. */
export const givesPromise = (call: MadeCall): boolean =>
  isRequest(call) || isQuery(call) || /(^effect$|\.(send|sendMessage|publish)$)/.test(call.callee);

export const takesSignal = (call: MadeCall): boolean =>
  call.arguments.some(
    (each) => mayHave(each, "signal") || (each.type === "Identifier" && each.name === "init"),
  );

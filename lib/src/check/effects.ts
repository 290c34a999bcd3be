// What a handler's text shows: work that nobody waits for, keys that are none, calls that a retry makes twice.
import type { WorkerDefinition } from "../queue/declaration.ts";
import type { WorkflowDefinition } from "../workflow/declaration.ts";
import type { Declared, Sighting } from "./contract.ts";
import type { RuleId } from "./rules.ts";
import {
  givesPromise,
  isChangingRequest,
  isOutward,
  isQuery,
  isRequest,
  isWrite,
  readHandler,
  takesSignal,
  type MadeCall,
} from "./calls.ts";
import { checkLabels } from "./labels.ts";
import { loopAttempts, optionAttempts } from "./retries.ts";
import { functionTree, nameOf, walk, type Tree } from "./syntax.ts";
import { checkTransactions, type Handling } from "./transactions.ts";

interface Subject extends Handling {
  readonly worker: WorkerDefinition;
}

type Detector = (subject: Subject) => Sighting[];

const see = ({ name, placeOf }: Handling, rule: RuleId, message: string, line = 0): Sighting => ({
  rule,
  name,
  place: placeOf(line),
  message: `${name}: ${message}`,
});

const listOf = (calls: readonly MadeCall[]): string =>
  [...new Set(calls.map(({ callee }) => `${callee}(…)`))].join(", ");

const unawaited: Detector = (subject) =>
  subject.code.calls
    .filter((call) => call.floating && givesPromise(call))
    .map((call) =>
      see(subject, "ack-before-commit", `the handler does not wait for ${call.callee}(…)`, call.line),
    );

const withoutKey: Detector = (subject) => {
  const changes = subject.code.calls.filter((call) => isQuery(call) || isWrite(call) || isOutward(call));
  if (subject.worker.options.idempotencyKey !== "none" || changes.length === 0) return [];
  const message = `idempotencyKey is "none", and the handler makes ${changes.length} calls that may change something: ${listOf(changes)}`;
  return [see(subject, "no-idempotency", message)];
};

const offLedger: Detector = (subject) =>
  subject.code.calls
    .filter((call) => call.direct && isChangingRequest(call))
    .map((call) =>
      see(subject, "effect-off-the-ledger", `${call.callee}(…) changes something outside`, call.line),
    );

const withoutSignal: Detector = (subject) =>
  subject.code.calls
    .filter((call) => call.direct && isRequest(call) && !takesSignal(call))
    .map((call) =>
      see(subject, "signal-ignored", `${call.callee}(…) goes on when the attempt is over`, call.line),
    );

const outwardMax = 2;

const orchestrating: Detector = (subject) => {
  const outward = subject.code.calls.filter(isOutward);
  if (outward.length <= outwardMax) return [];
  const message = `one handler makes ${outward.length} calls to others: ${listOf(outward)}`;
  return [see(subject, "orchestrating-handler", message)];
};

const writesFile = /(^|\.)(writeFile|writeFileSync|appendFile|appendFileSync|createWriteStream)$/;

const localFiles: Detector = (subject) =>
  subject.code.calls
    .filter(({ callee }) => writesFile.test(callee))
    .map((call) => see(subject, "local-file", `${call.callee}(…) writes to this machine's disk`, call.line));

const multiplied: Detector = (subject) => {
  const inner = Math.max(loopAttempts(subject.code.tree), optionAttempts(subject.code.tree));
  if (inner <= 1) return [];
  const outer = subject.worker.queue.options.deadLetter.after;
  const message = `the handler tries up to ${inner} times and the queue ${outer} times: ${inner} × ${outer} = ${inner * outer} attempts`;
  return [see(subject, "multiplied-retries", message)];
};

const chance = /(^|\.)(randomUUID|random|randomBytes|nanoid|uuid|uuidv4|uuidv7|v4|v7|now|ulid)$/;

const isChance = ({ type, callee, arguments: given }: Tree): boolean => {
  if (type === "CallExpression") return chance.test(nameOf(callee as Tree));
  return type === "NewExpression" && nameOf(callee as Tree) === "Date" && (given as Tree[]).length === 0;
};

/** Whether the function does anything with what it is given. */
export function usesInput(tree: Tree): boolean {
  const parameter = (tree.params as Tree[])[0];
  if (!parameter) return false;
  const namesOf = (node: Tree) =>
    [...walk(node)].flatMap(({ node: each }) => (each.type === "Identifier" ? [each.name as string] : []));
  const names = new Set(namesOf(parameter));
  return namesOf(tree.body as Tree).some((name) => names.has(name));
}

const keys: Detector = (subject) => {
  const tree = functionTree(subject.worker.options.idempotencyKey);
  if (!tree) return [];
  const random = [...walk(tree)].find(({ node }) => isChance(node));
  if (random)
    return [see(subject, "key-never-same", `the key comes from ${nameOf(random.node.callee as Tree)}(…)`)];
  if (usesInput(tree)) return [];
  return [see(subject, "key-same-for-all", "every message has the same idempotency key")];
};

const detectors: readonly Detector[] = [
  unawaited,
  withoutKey,
  keys,
  offLedger,
  withoutSignal,
  orchestrating,
  localFiles,
  multiplied,
];

/** Finds the lines of a handler in the file that declares it; the declaration's own line where they are not found. */
function placing({ options, place }: WorkerDefinition, { sources }: Declared) {
  const [, path, row] = /^(.*):(\d+)$/.exec(place ?? "") ?? [];
  const lines = sources.find((source) => source.path === path)?.text.split("\n") ?? [];
  const first = options.handle.toString().split("\n")[0]!.trim();
  const at = lines.findIndex((line, index) => index >= Number(row) - 1 && line.includes(first));
  return (line: number) => (at < 0 || line === 0 ? place : `${path}:${at + 1 + line}`);
}

const checkWorker = (declared: Declared, worker: WorkerDefinition): Sighting[] => {
  const code = readHandler(worker.options.handle);
  if (!code) return [];
  const subject = { worker, name: worker.queue.name, code, placeOf: placing(worker, declared) };
  return [
    ...detectors.flatMap((detect) => detect(subject)),
    ...checkTransactions(subject),
    ...checkLabels(subject),
  ];
};

/** A task's handler is called again by its state, so only its transaction and the codes of its outcomes are looked at. */
const checkWorkflow = ({ name, tasks }: WorkflowDefinition): Sighting[] =>
  [...tasks.values()].flatMap(({ handle }) => {
    const code = readHandler(handle);
    if (!code) return [];
    const handling = { name, code, placeOf: () => undefined };
    return [...checkTransactions(handling), ...checkLabels(handling)];
  });

export const checkEffects = (declared: Declared): Sighting[] => [
  ...declared.workers.flatMap((worker) => checkWorker(declared, worker)),
  ...declared.workflows.flatMap(checkWorkflow),
];

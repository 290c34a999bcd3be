// Limits that are none, and lanes that are one.
import type { WorkerDefinition } from "../queue/declaration.ts";
import type { Declared, Sighting, SourceFile } from "./contract.ts";
import { usesInput } from "./effects.ts";
import { fileTree, functionTree, literalOf, nameOf, propertyOf, walk, type Tree } from "./syntax.ts";

const concurrencyMax = 49;
/** As many processes as a scale-out easily has. */
const processes = 20;

function limits({ queue: { name }, options, place }: WorkerDefinition): Sighting[] {
  const { concurrency = 16, globalConcurrency } = options;
  if (globalConcurrency === undefined && concurrency > concurrencyMax) {
    const message = `${name}: ${concurrency} handlers in each process and no limit in all; ${processes} processes would run ${processes} × ${concurrency} = ${processes * concurrency}`;
    return [{ rule: "unbounded-concurrency", name, place, message }];
  }
  if (options.concurrency === undefined || globalConcurrency === undefined) return [];
  if (globalConcurrency >= concurrency) return [];
  const message = `${name}: ${concurrency} slots in one process, and ${globalConcurrency} handlers in all processes`;
  return [{ rule: "idle-slots", name, place, message }];
}

function oneLock({ queue: { name }, options, place }: WorkerDefinition): Sighting[] {
  const tree = functionTree(options.lock);
  if (!tree || usesInput(tree)) return [];
  return [{ rule: "single-lane", name, place, message: `${name}: every message waits for the same lock` }];
}

function oneSlot({ queue: { name }, options, place }: WorkerDefinition): Sighting[] {
  if (options.globalConcurrency !== 1) return [];
  const message = `${name}: one handler in all processes together`;
  return [{ rule: "single-lane", name, place, message }];
}

/** The group that a call sends to, where it is written down as text. */
function groupOf({ type, callee, arguments: given }: Tree): string | undefined {
  if (type !== "CallExpression" || !nameOf(callee as Tree).endsWith(".send")) return undefined;
  const group = (given as Tree[]).map((each) => literalOf(propertyOf(each, "groupId")));
  return group.find((each) => typeof each === "string");
}

/** Sends with a constant group, in files that declare a FIFO queue or import one. */
function oneGroup({ path, text }: SourceFile): Sighting[] {
  const tree = fileTree(path, text);
  if (!tree) return [];
  return [...walk(tree)].flatMap(({ node }) => {
    const group = groupOf(node);
    if (group === undefined) return [];
    const name = nameOf((node.callee as Tree).object as Tree);
    const message = `${name}: every message goes to the group ${JSON.stringify(group)}`;
    return [{ rule: "single-lane" as const, name, place: `${path}:${node.loc!.start.line}`, message }];
  });
}

export const checkCapacity = (declared: Declared): Sighting[] => [
  ...declared.workers.flatMap((worker) => [...limits(worker), ...oneLock(worker), ...oneSlot(worker)]),
  ...declared.sources.flatMap(oneGroup),
];

const nobody =
  /^(todo|tbd|fixme|none|n\/?a|nobody|someone|somebody|me|us|owner|team|unknown|test|x+|\?+|-+)$/i;

/** Whose the dead letters are, and where it says what to do. */
export function checkOwners(
  { queues, streams, batches, backfills, commands, endpoints }: Declared,
  exists: (runbook: string, place: string | undefined) => boolean,
): Sighting[] {
  const owned = [
    ...queues.map(({ name, place, options: { deadLetter } }) => ({ ...deadLetter, name, place })),
    ...[...streams, ...batches, ...backfills, ...commands, ...endpoints].map(
      ({ name, place, options: { owner, runbook } }) => ({ owner, runbook, name, place }),
    ),
  ];
  return owned.flatMap(({ name, place, owner, runbook }) => {
    const found: Sighting[] = [];
    if (nobody.test(owner.trim()))
      found.push({
        rule: "owner-placeholder",
        name,
        place,
        message: `${name}: the owner is ${JSON.stringify(owner)}`,
      });
    if (!exists(runbook, place))
      found.push({ rule: "runbook-missing", name, place, message: `${name}: there is no file ${runbook}` });
    return found;
  });
}

// Backfills: what is to be decided about them is declared; here is what was decided so that it means nothing.
import type { BackfillDefinition } from "../../batch/backfill/contract.ts";
import { worker, type WorkerDefinition } from "../../queue/declaration.ts";
import { readHandler } from "../calls.ts";
import { usesInput } from "../effects.ts";
import type { Declared, Sighting } from "../contract.ts";

/** What works on the slices, as a worker: it is held to the same rules. A slice is one transaction, and none is done twice. */
export function sliceWorkerOf({ queue, options, place }: BackfillDefinition): WorkerDefinition {
  const { timeout, concurrency, handle } = options;
  const idempotencyKey = (slice: any) => slice.key as string;
  const bounds = concurrency > 1 ? { concurrency, globalConcurrency: concurrency } : {};
  // A slice that fails is taken apart by the engine, which is no retry.
  const deadLetter = { ...queue.options.deadLetter, after: 1 };
  const of = { ...queue, options: { ...queue.options, deadLetter } };
  return { ...worker(of, { idempotencyKey, timeout, handle: handle as () => unknown, ...bounds }), place };
}

/** Whether a function is there that looks at nothing: neither at what it is given nor, by a call, at anything else. */
export function looksAtNothing(look: unknown): boolean {
  const code = readHandler(look);
  return code !== undefined && code.calls.length === 0 && !usesInput(code.tree);
}

/** More records a second than that are felt by whoever works beside it. */
const feltPerSecond = 100;

function shapes({ name, options, place }: BackfillDefinition): Sighting[] {
  const { verify, rollback, window, throttle, abort } = options;
  const found: Sighting[] = [];
  const see = (rule: Sighting["rule"], message: string) =>
    found.push({ rule, name, place, message: `${name}: ${message}` });
  if (looksAtNothing(verify)) see("unverified-output", "`verify` looks at nothing");
  if (!rollback.undo) see("backfill-without-undo", "there is a plan to undo it, and no `undo` that does it");
  if (abort.errorShare >= 1) see("backfill-never-aborts", "it goes on while every record fails");
  if (window === "any" && throttle.perSecond > feltPerSecond)
    see("backfill-at-any-hour", `${throttle.perSecond} records a second, at any hour`);
  return found;
}

export const checkBackfills = ({ backfills }: Declared): Sighting[] => backfills.flatMap(shapes);

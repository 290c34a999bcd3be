// From claimed to ready to run: parsed, not done before, and its entity's lock taken. What cannot run now goes back
// without counting a receive; nothing that was claimed is ever forgotten here.
import type { Log } from "../../engine/log.ts";
import type { SlotTable } from "../../engine/process/slots.ts";
import type { Database } from "../../pg/database.ts";
import type { HeldMessage, QueueRecord } from "../contract.ts";
import type { WorkerDefinition } from "../declaration.ts";
import { queueSignals } from "../signals.ts";
import { lockEntities, type EntityClaim } from "../store/lock.ts";
import { findCommands } from "../store/command.ts";
import { regroupMessages } from "../store/tenant.ts";
import { takeIn, type Taken } from "./intake.ts";
import { persist, type Settler } from "./settler.ts";

export interface AdmissionDeps {
  readonly database: Database;
  readonly settler: Settler;
  readonly slots: SlotTable;
  readonly log: Log;
  readonly worker: WorkerDefinition;
  readonly queue: QueueRecord;
  /** Ends a message whose work was done before. Never rejects. */
  readonly endDuplicate: (item: Taken) => Promise<void>;
  /** Tells that a message is left in flight, which could not be given back. */
  readonly trouble: () => void;
  /** Tells whoever waits for messages of the queue that there may be some. */
  readonly wake: () => void;
}

export interface Admission {
  /** Those that may run. Never rejects. */
  admit(messages: readonly HeldMessage[]): Promise<Taken[]>;
  /** Gives a message back after a while, as if it had not been received. Never rejects. */
  giveBack(item: Taken, delayMs: number): Promise<void>;
}

// Somebody else works on the same thing at this moment; a little apart, so that several do not come back in step.
export const elsewhereMs = (): number => 100 + Math.random() * 200;

const none: ReadonlyMap<string, string> = new Map();

export function makeAdmission(deps: AdmissionDeps): Admission {
  const { database, settler, slots, log, worker, queue } = deps;

  async function putBack(held: HeldMessage, delayMs: number): Promise<void> {
    await settler.retry({ ...held, delayMs }, queue.fifo).catch((cause: unknown) => {
      const fields = { cause, queue: queue.name, messageId: held.messageId };
      log.error(fields, "could not give a message back; it will come back");
      deps.trouble();
    });
  }

  async function giveBack(item: Taken, delayMs: number): Promise<void> {
    await putBack(item.held, delayMs);
    slots.free(item.slot);
  }

  type Entry = Taken | undefined;

  function take(held: HeldMessage): Entry | Promise<Entry> {
    const slot = slots.take(held);
    if (slot === undefined) return putBack(held, elsewhereMs()).then(() => undefined);
    return takeIn(worker, held, slot);
  }

  /** Waits only where it must: for an asynchronous schema, or for a message that goes back. */
  async function takeAll(messages: readonly HeldMessage[]): Promise<Taken[]> {
    const entries = messages.map(take);
    const all = entries.some((entry) => entry instanceof Promise) ? await Promise.all(entries) : entries;
    return all.filter((entry) => entry !== undefined) as Taken[];
  }

  /** The command records of their keys, with the hash of each one's request. */
  async function knownOf(items: readonly Taken[]): Promise<ReadonlyMap<string, string>> {
    if (worker.options.idempotencyKey === "none") return none;
    const commands = items.flatMap((item) => item.command ?? []);
    if (commands.length === 0) return none;
    const keys = commands.map((command) => command.key);
    return persist(() => findCommands(database, commands[0]!.scope, keys));
  }

  async function withoutDuplicates(items: readonly Taken[]): Promise<Taken[]> {
    const known = await knownOf(items);
    const isKnown = ({ held, command }: Taken) =>
      held.ended === true || (command !== undefined && known.has(command.key));
    for (const item of items.filter(isKnown)) {
      const requestHash = item.command && known.get(item.command.key);
      if (requestHash !== undefined) warnOfOtherBody(item, requestHash);
      void deps.endDuplicate(item);
    }
    return items.filter((item) => !isKnown(item));
  }

  function warnOfOtherBody({ command, held }: Taken, requestHash: string): void {
    if (command!.requestHash === requestHash) return;
    const fields = { queue: queue.name, messageId: held.messageId, key: command!.key };
    log.warn(fields, "a message with another body under a key that was processed before");
    queueSignals.publish("worker.key_reused", { queue: queue.name, key: command!.key });
  }

  /** What waits in another group than its tenant's goes there, where it is counted. */
  async function withinTenants(items: readonly Taken[]): Promise<readonly Taken[]> {
    const strays = items.filter((item) => item.misplaced);
    if (strays.length === 0) return items;
    const claims = strays.map(({ held: { queueId, id, fence }, tenant }) => ({
      queueId,
      id,
      fence,
      tenant: tenant!,
    }));
    await persist(() => regroupMessages(database, queue.id, claims));
    for (const { slot } of strays) slots.free(slot);
    deps.wake();
    return items.filter((item) => !item.misplaced);
  }

  async function withLocks(items: readonly Taken[]): Promise<Taken[]> {
    if (!worker.options.lock) return [...items];
    const claims: EntityClaim[] = items.flatMap(({ held, lockKey }) =>
      lockKey === undefined ? [] : { queueId: held.queueId, id: held.id, fence: held.fence, lockKey },
    );
    if (claims.length === 0) return [...items];
    const locked = await persist(() => lockEntities(database, queue.id, claims));
    const mayRun = ({ held, lockKey }: Taken) => lockKey === undefined || locked.has(held.id);
    for (const item of items) if (!mayRun(item)) void giveBack(item, elsewhereMs());
    return items.filter(mayRun);
  }

  return {
    giveBack,
    async admit(messages) {
      const taken = await takeAll(messages);
      try {
        return await withLocks(await withoutDuplicates(await withinTenants(taken)));
      } catch (cause) {
        log.error({ cause, queue: queue.name }, "could not look up claimed messages; they go back");
        await Promise.all(taken.map((item) => giveBack(item, elsewhereMs())));
        return [];
      }
    },
  };
}

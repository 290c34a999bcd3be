// What the tests of workers share: a queue with a worker under a fresh name, and promises for what it announces.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { z } from "zod";
import type { Schema } from "../../core/schema.ts";
import { app, queue, start, worker, type QueueDefinition, type RunningApp } from "../../index.ts";
import type { Platform } from "../../platform.ts";
import type { QueueOptions, WorkerOptions } from "../declaration.ts";
import type { QueueRecord } from "../contract.ts";
import { defaultScope } from "../contract.ts";

export type Fields = Record<string, any>;

/** Records a signal; `until` resolves once so many of them match. */
export function watch(name: string, matches: (fields: Fields) => boolean = () => true) {
  const seen: Fields[] = [];
  let waiting: { count: number; resolve: () => void }[] = [];
  const listener = (message: unknown) => {
    if (!matches(message as Fields)) return;
    seen.push(message as Fields);
    waiting = waiting.filter(({ count, resolve }) => seen.length < count || resolve());
  };
  subscribe(`tuntas.${name}`, listener);
  return {
    seen,
    until: (count: number) =>
      seen.length >= count
        ? Promise.resolve()
        : new Promise<void>((resolve) => waiting.push({ count, resolve })),
    close: () => unsubscribe(`tuntas.${name}`, listener),
    [Symbol.dispose]: () => unsubscribe(`tuntas.${name}`, listener),
  };
}

/** A promise and the functions that end it. */
export function gate<T = void>() {
  let open!: (value: T) => void;
  const promise = new Promise<T>((resolve) => (open = resolve));
  return { promise, open };
}

export const order = z.object({ id: z.string() });

let names = 0;
export const freshName = (suffix = ""): string => `work-${process.pid}-${++names}${suffix}`;

export interface Work<S extends Schema> extends AsyncDisposable {
  readonly queue: QueueDefinition<S>;
  readonly record: QueueRecord;
  readonly deadLetters: QueueRecord;
  readonly app: RunningApp;
  /** The attempts of this queue, as they are announced. */
  readonly attempts: ReturnType<typeof watch>;
}

type QueueParts = Partial<QueueOptions<typeof order>> & { readonly name?: string; readonly after?: number };

export function declare({ name = freshName(), after = 3, ...more }: QueueParts = {}): QueueDefinition<
  typeof order
> {
  return queue(name, {
    message: order,
    deadLetter: { after, owner: "orders", runbook: "runbooks/orders.md", retention: "14d" },
    ...more,
  });
}

/** Starts a worker of a fresh queue on the platform. */
export async function work(
  platform: Platform,
  options: Partial<WorkerOptions<typeof order>> & Pick<WorkerOptions<typeof order>, "handle">,
  parts: QueueParts = {},
): Promise<Work<typeof order>> {
  const of = declare(parts);
  const attempts = watch("worker.attempt", (fields) => fields.queue === of.name);
  const declared = worker(of, { idempotencyKey: ({ id }) => id, timeout: "30s", ...options });
  const running = await start(app({ of, declared }), { platform });
  const record = await platform.queues.catalog.get(defaultScope, of.name);
  const deadLetters = await platform.queues.catalog.get(defaultScope, record.deadLetterName!);
  return {
    queue: of,
    record,
    deadLetters,
    app: running,
    attempts,
    async [Symbol.asyncDispose]() {
      attempts.close();
      await running.stop();
    },
  };
}

/** Runs a query on a connection of the test's own, with `tuntas.` meaning the platform's schema. */
export async function ask<R = any>(platform: Platform, text: string, values: unknown[] = []): Promise<R[]> {
  const client = await platform.database.dedicatedClient();
  try {
    const { rows } = await client.query(
      text.replaceAll(/\btuntas\./g, `${platform.database.schema}.`),
      values,
    );
    return rows;
  } finally {
    await client.end();
  }
}

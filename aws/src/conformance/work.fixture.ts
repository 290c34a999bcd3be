// What the tests of the suite share: a queue with a worker under a fresh name, and promises for what it announces.
import { fork, type ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { app, queue, start, worker, type QueueOptions, type RunningApp, type WorkerOptions } from "tuntas";
import { ask } from "./ask.fixture.ts";
import type { Place } from "./place.fixture.ts";

export const order = z.object({ id: z.string() });
type Order = typeof order;

/** The attempts of a queue, as they are announced. */
export function watchAttempts(queueName: string) {
  const seen: { outcome: string; attempt: number; messageId: string; correlationId?: string }[] = [];
  let waiting: { count: number; resolve: () => void }[] = [];
  const listener = (fields: unknown) => {
    if ((fields as { queue: string }).queue !== queueName) return;
    seen.push(fields as (typeof seen)[number]);
    waiting = waiting.filter(({ count, resolve }) => seen.length < count || resolve());
  };
  subscribe("tuntas.worker.attempt", listener);
  return {
    seen,
    outcomes: () => seen.map(({ outcome }) => outcome),
    until: (count: number) =>
      seen.length >= count
        ? Promise.resolve()
        : new Promise<void>((resolve) => waiting.push({ count, resolve })),
    close: () => unsubscribe("tuntas.worker.attempt", listener),
  };
}

/** A promise and the function that ends it. */
export function gate<T = void>() {
  let open!: (value: T) => void;
  const promise = new Promise<T>((resolve) => (open = resolve));
  return { promise, open };
}

let names = 0;
export const freshName = (suffix = ""): string => `work-${process.pid}-${++names}${suffix}`;

export type QueueParts = Partial<QueueOptions<Order>> & { readonly name?: string; readonly after?: number };
export type Handling = Partial<WorkerOptions<Order>> & Pick<WorkerOptions<Order>, "handle">;

export const declare = ({ name = freshName(), after = 5, ...more }: QueueParts = {}) =>
  queue(name, {
    message: order,
    deadLetter: { after, owner: "orders", runbook: "runbooks/orders.md", retention: "14d" },
    ...more,
  });

/** Starts a worker of a fresh queue where the place has it. */
export async function work(place: Place, handling: Handling, parts: QueueParts = {}) {
  const of = declare(parts);
  const attempts = watchAttempts(of.name);
  const declared = worker(of, { idempotencyKey: ({ id }) => id, timeout: "40s", ...handling });
  const running: RunningApp = await start(app({ of, declared }), {
    platform: place.kit.platform,
    ...place.options,
  });
  return {
    queue: of,
    app: running,
    attempts,
    async [Symbol.asyncDispose]() {
      attempts.close();
      await running.stop();
    },
  };
}

/** A handler that writes a row in its own transaction. */
export const insert =
  (place: Place, who = "worker") =>
  async ({ id }: { id: string }, { tx }: { tx: { query(text: string, values: unknown[]): unknown } }) =>
    void (await tx.query(`insert into ${place.kit.schema}.effect values ($1, $2)`, [id, who]));

export const effects = async (place: Place): Promise<string[]> =>
  (await ask<{ id: string }>(place.kit, "select id from tuntas.effect order by id")).map(({ id }) => id);

/** A process with a worker of the queue; `told` resolves at a message that matches. */
export async function spawn(place: Place, name: string) {
  const { env, parts } = place.child;
  const script = fileURLToPath(new URL("./process.fixture.mjs", import.meta.url));
  const child: ChildProcess = fork(script, [JSON.stringify({ ...parts, name })], {
    env: { ...process.env, ...env, TUNTAS_LOG_LEVEL: "silent" },
  });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const heard: Record<string, unknown>[] = [];
  const listeners = new Set<() => void>();
  child.on("message", (message) => {
    heard.push(message as Record<string, unknown>);
    for (const listener of listeners) listener();
  });
  const told = (matches: (message: Record<string, unknown>) => boolean) =>
    new Promise<void>((resolve) => {
      const look = () => heard.some(matches) && resolve();
      listeners.add(look);
      look();
    });
  await told(({ ready }) => ready === true);
  return { child, told, exited };
}

/** Sends to the queue without working on it. */
export async function senderOf(place: Place, name: string) {
  const of = declare({ name });
  const running = await start(app({ of }), { platform: place.kit.platform, workers: false, ...place.options });
  return { send: (id: string) => of.send({ id }), [Symbol.asyncDispose]: () => running.stop() };
}

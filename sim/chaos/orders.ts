// Orders: clients send through the gateway, workers leave one effect each, and a record is kept of who began what.
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type pg from "pg";
import { keepRunning, onDatabase, type Running } from "../cases/processes.ts";
import { openWire, type Wire } from "../fault/proxy.ts";
import type { Begun } from "./record.ts";

const file = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const clients = 12;

/** A worker behind a wire of its own. */
export interface OrderWorker {
  readonly process: Running;
  readonly wire: Wire;
}

export interface Orders {
  readonly workers: readonly OrderWorker[];
  readonly gateway: Running;
  readonly begun: readonly Begun[];
  readonly accepted: ReadonlySet<string>;
  /** Sends without an answer: such an order may have an effect, but at most one. */
  readonly unsure: () => number;
  /** When the last order was accepted. */
  readonly acceptedAtMs: () => number;
  /** Ends the sending. */
  rest(): Promise<void>;
  close(): Promise<void>;
}

async function send(port: number, id: string): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/`, {
    method: "POST",
    headers: { "content-type": "application/x-amz-json-1.0", "x-amz-target": "AmazonSQS.SendMessage" },
    body: JSON.stringify({
      QueueUrl: `http://127.0.0.1:${port}/000000000000/chaos-work`,
      MessageBody: JSON.stringify({ id }),
    }),
    signal: AbortSignal.timeout(10_000),
  });
  if (!response.ok) throw new Error(`refused: ${response.status}`);
  await response.arrayBuffer();
}

async function openWorker(url: string, env: NodeJS.ProcessEnv, begun: Begun[]): Promise<OrderWorker> {
  const wire = await openWire(url);
  const process = keepRunning({
    file: file("./order-worker.mjs"),
    env: { ...env, DATABASE_URL: wire.url },
    onMessage(message, pid) {
      const { begun: id } = message as { begun?: string };
      if (id !== undefined) begun.push({ id, pid, atMs: performance.now() });
    },
  });
  return { process, wire };
}

export async function openOrders(
  url: string,
  env: NodeJS.ProcessEnv,
  { port, workers: count }: { port: number; workers: number },
): Promise<Orders> {
  await onDatabase(url, (client) =>
    client.query(
      "create schema chaos; create table chaos.effect (id text not null, worker integer not null)",
    ),
  );
  const begun: Begun[] = [];
  const workers = await Promise.all(Array.from({ length: count }, () => openWorker(url, env, begun)));
  const gateway = keepRunning({
    file: file("./order-gateway.mjs"),
    env: { ...env, DATABASE_URL: url, TUNTAS_PORT: String(port) },
  });
  const accepted = new Set<string>();
  let [unsure, acceptedAtMs, over] = [0, 0, false];

  async function client(): Promise<void> {
    while (!over) {
      const id = randomUUID();
      try {
        await send(port, id);
        accepted.add(id);
        acceptedAtMs = performance.now();
      } catch {
        unsure++;
        await pause(50);
      }
      await pause(20);
    }
  }

  const load = Promise.all(Array.from({ length: clients }, client));
  return {
    workers,
    gateway,
    begun,
    accepted,
    unsure: () => unsure,
    acceptedAtMs: () => acceptedAtMs,
    async rest() {
      over = true;
      await load;
    },
    async close() {
      over = true;
      for (const { process, wire } of workers) {
        process.stop();
        await wire[Symbol.asyncDispose]();
      }
      gateway.stop();
    },
  };
}

/** Which process left which effect, and what was done twice. */
export async function readEffects(
  database: pg.Client,
): Promise<{ by: Map<string, number>; doubled: string[] }> {
  const { rows } = await database.query("select id, worker from chaos.effect");
  const by = new Map<string, number>();
  const doubled: string[] = [];
  for (const { id, worker } of rows as { id: string; worker: number }[]) {
    if (by.has(id)) doubled.push(id);
    by.set(id, worker);
  }
  return { by, doubled };
}

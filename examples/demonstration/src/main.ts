// What `npm start` runs beside the applications: the shop, its day, and at a terminal its packers and keys.
import { randomUUID } from "node:crypto";
import { start, type Platform } from "tuntas";
import { defaultScope, composeMessage } from "tuntas/queue";
import { bindCrm, isOver, live, type Places } from "./day.ts";
import { list, listenToKeys, type Key } from "./keys.ts";
import { startPackers, type Packers } from "./packers.ts";
import { shopApp } from "./shop.ts";

export interface Demonstration {
  /** Resolves once the day is over. */
  readonly lived: Promise<void>;
  stop(): Promise<void>;
}

const burst = 500;

async function poison({ queues }: Platform): Promise<void> {
  const queue = await queues.catalog.get(defaultScope, "order-work");
  const message = composeMessage(queue, { body: `this is not an order (${randomUUID().slice(0, 8)})` });
  await queues.sender.send(queue, message, defaultScope.account);
}

async function sendBurst(ordersUrl: string): Promise<number> {
  const begun = performance.now();
  const place = (_: unknown, index: number) =>
    fetch(`${ordersUrl}/orders`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ customerId: `cust_${index % 20}` }),
    }).then((response) => response.arrayBuffer());
  await Promise.all(Array.from({ length: burst }, place));
  return performance.now() - begun;
}

const say = (text: string): void => console.log(`  ${text}`);

function keysOf(platform: Platform, packers: Packers, { ordersUrl }: Places): readonly Key[] {
  const keys: readonly Key[] = [
    {
      key: "k",
      meaning: "kill a worker process while it works (kill -9), and watch the take-over",
      press: packers.kill,
    },
    {
      key: "p",
      meaning: "send a poison message to order-work",
      async press() {
        await poison(platform);
        say("Sent a poison message. It is tried again, then it is a dead letter; orders go on.");
      },
    },
    {
      key: "l",
      meaning: `send a burst of ${burst} orders`,
      async press() {
        say(`${burst} orders were accepted in ${Math.round(await sendBurst(ordersUrl))} ms.`);
      },
    },
    { key: "?", meaning: "list the keys", press: () => console.log(list(keys)) },
    { key: "q", meaning: "end it", press: () => process.kill(process.pid, "SIGINT") },
  ];
  return keys;
}

/** Starts the shop; its day and its packers follow by themselves, so that nobody waits for them. */
export async function startDemonstration(platform: Platform, places: Places): Promise<Demonstration> {
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  bindCrm(platform);
  const isNew = !(await isOver(platform));
  const running = await start(shopApp({ packsHere: !isTerminal }), { platform, drain: "2s" });
  const failed = (what: string) => (cause: unknown) =>
    platform.log.warn({ cause, what }, "the demonstration");
  const lived = (isNew ? live(platform, places) : Promise.resolve([])).then(
    (steps) => steps.forEach(({ name, failure }) => failed(name)(failure)),
    failed("day"),
  );
  const packers = isTerminal ? startPackers(platform, say) : undefined;
  const unlisten = packers
    ? listenToKeys(keysOf(platform, packers, places), (cause) => say(`That failed: ${String(cause)}`))
    : () => undefined;
  return {
    lived,
    async stop() {
      unlisten();
      await Promise.all([packers?.stop(), lived]);
      await running.stop();
    },
  };
}

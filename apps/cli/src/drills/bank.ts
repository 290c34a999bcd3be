// A bank with a limit: it answers each payment after a while, refuses what comes beyond what it bears, and remembers its worst
// second. It is what a storm must not harm.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface BankLimits {
  /** So long each payment takes. */
  readonly answerMs: number;
  /** Calls that it takes at once; one more is refused with 429. */
  readonly atOnce: number;
}

export interface BankFigures {
  readonly calls: number;
  /** Calls that began within any one second, at most. */
  readonly busiestSecond: number;
  readonly mostAtOnce: number;
  readonly refused: number;
  /** Payments that were made twice or more. */
  readonly repeated: number;
}

export interface Bank {
  readonly url: string;
  figures(): BankFigures;
  close(): Promise<void>;
}

/** The most of these instants that fall into one second; they are in order. */
export function busiestSecond(instantsMs: readonly number[]): number {
  let [first, most] = [0, 0];
  for (const [index, instant] of instantsMs.entries()) {
    while (instant - instantsMs[first]! >= 1000) first++;
    most = Math.max(most, index - first + 1);
  }
  return most;
}

export async function openBank({ answerMs, atOnce }: BankLimits): Promise<Bank> {
  const [beganMs, paid] = [[] as number[], [] as string[]];
  let [open, mostAtOnce, refused] = [0, 0, 0];
  const server = createServer(({ url }, response) => {
    beganMs.push(performance.now());
    mostAtOnce = Math.max(mostAtOnce, ++open);
    response.on("close", () => open--);
    response.setHeader("connection", "close");
    if (open > atOnce) {
      refused++;
      return response.writeHead(429).end();
    }
    setTimeout(() => {
      paid.push(url!);
      response.end("{}");
    }, answerMs);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    figures: () => ({
      calls: beganMs.length,
      busiestSecond: busiestSecond(beganMs),
      mostAtOnce,
      refused,
      repeated: paid.length - new Set(paid).size,
    }),
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}

// Trying again as an orchestrator does, but never for ever: what does not come about is a failure that says why.
import { setTimeout as pause } from "node:timers/promises";
import { within } from "../lib/src/engine/outside/within.ts";

const betweenMs = 50;

/** Tries until it succeeds. What has not after so long, also because a try never ends, fails with the last reason that there was. */
export async function persevere<T>(what: string, act: () => Promise<T>, mostMs: number): Promise<T> {
  const over = AbortSignal.timeout(mostMs);
  let reason: unknown = "no try has ended";
  let tries = 0;
  while (!over.aborted) {
    tries++;
    try {
      return await within(over, act);
    } catch (cause) {
      if (cause !== over.reason) reason = cause;
    }
    await pause(betweenMs);
  }
  throw new Error(`${what}: not within ${mostMs} ms and ${tries} tries`, { cause: reason });
}

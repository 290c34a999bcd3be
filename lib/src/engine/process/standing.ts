// This process's place among the others, kept through losses: one that was taken for dead registers again.
import type { Log } from "../log.ts";
import type { Presence } from "./presence.ts";

const standAgainMs = 500;

/** A presence that begins anew when it is lost, however long the database stays away. */
export function makeStanding(start: (onLost: (reason: string) => void) => Promise<Presence>, log: Log) {
  const handlers: (() => void)[] = [];
  let presence: Presence | undefined;
  let stands = false;
  let again: NodeJS.Timeout | undefined;
  let closed = false;

  async function begin(): Promise<void> {
    let lost = false;
    presence = await start((reason) => {
      lost = true;
      log.warn({ reason }, "this process was taken for dead; what it held belongs to others now");
      for (const handler of handlers) handler();
      if (stands) beginAgain();
    });
    stands = true;
    if (lost) beginAgain();
  }

  function beginAgain(): void {
    stands = false;
    if (closed) return;
    begin().catch((cause: unknown) => {
      log.warn({ cause }, "could not register again; will try again");
      again = setTimeout(beginAgain, standAgainMs);
    });
  }

  return {
    begin,
    processId: () => presence!.processId,
    onLost: (handler: () => void) => void handlers.push(handler),
    async close() {
      closed = true;
      clearTimeout(again);
      await presence?.close();
    },
  };
}

// Nothing is told before its commit. A step commits with the acknowledgement of its message, which is the worker's to write:
// its signal says that it has.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { channelName } from "../engine/signals.ts";

/** Has it told once the attempt at the message is done; not at all where it comes to something else. */
export type AfterCommit = (messageId: string, tell: () => void) => void;

// An attempt that lost its message to another owner has no signal.
const forgottenMs = 60_000;

export function makeNews(committed: () => void): { readonly afterCommit: AfterCommit; close(): void } {
  const waiting = new Map<string, { readonly tell: () => void; readonly timer: NodeJS.Timeout }>();
  const channel = channelName("worker.attempt");

  function forget(messageId: string): void {
    clearTimeout(waiting.get(messageId)?.timer);
    waiting.delete(messageId);
  }

  function onAttempt(message: unknown): void {
    const { messageId, outcome } = message as { messageId: string; outcome: string };
    const news = waiting.get(messageId);
    if (!news) return;
    forget(messageId);
    if (outcome !== "done") return;
    news.tell();
    committed();
  }

  subscribe(channel, onAttempt);
  return {
    afterCommit(messageId, tell) {
      forget(messageId);
      const timer = setTimeout(forget, forgottenMs, messageId).unref();
      waiting.set(messageId, { tell, timer });
    },
    close() {
      unsubscribe(channel, onAttempt);
      for (const messageId of waiting.keys()) forget(messageId);
    },
  };
}

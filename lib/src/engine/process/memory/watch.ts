// Watches this process's memory and says, once an hour at most, that it grows steadily, before the limit is reached.
// It asks nobody: a reading of the heap's figures some times a window.
import { totalmem } from "node:os";
import { getHeapStatistics } from "node:v8";
import type { Log } from "../../log.ts";
import { growthOf, windowsMax, type Low } from "./growth.ts";
import { processSignals } from "../signals.ts";

export interface MemoryWatchOptions {
  readonly log: Log;
  /** The lows of so many ms are one point; a leak is told of after twelve of them. */
  readonly windowMs?: number;
}

const fiveMinutesMs = 300_000;
const readingsPerWindow = 20;
const mb = (bytes: number): number => Math.round(bytes / 1_048_576);

/** What the process may use in all: its container's share where there is one, else the machine's. */
function processLimitBytes(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 && constrained < totalmem() ? constrained : totalmem();
}

interface Kind {
  readonly name: string;
  readonly limitBytes: number;
  readonly read: (usage: NodeJS.MemoryUsage) => number;
}

/** Objects of JavaScript have a limit of their own, far below the machine's. */
const kinds = (): readonly Kind[] => [
  { name: "heap", limitBytes: getHeapStatistics().heap_size_limit, read: ({ heapUsed }) => heapUsed },
  { name: "process", limitBytes: processLimitBytes(), read: ({ rss }) => rss },
];

export function watchMemory({ log, windowMs = fiveMinutesMs }: MemoryWatchOptions): { close(): void } {
  const series = kinds().map((kind) => ({ kind, low: Infinity, lows: [] as Low[] }));
  let openedAtMs = performance.now();

  function judge({ kind, lows }: (typeof series)[number]): void {
    const growth = growthOf(lows, kind.limitBytes);
    if (!growth) return;
    lows.length = 0; // it is told of again after as long a time, if it goes on
    const { bytes, bytesPerHour, limitBytes, hoursLeft } = growth;
    const text = `${kind.name} memory grows by ${mb(bytesPerHour)} MB an hour: ${mb(bytes)} MB are kept, and the limit of ${mb(limitBytes)} MB is ${hoursLeft.toFixed(1)} hours away`;
    log.warn({ event: "process.memory_growing", memory: kind.name, ...growth }, text);
    processSignals.publish("process.memory_growing", { memory: kind.name, ...growth });
  }

  function endWindow(atMs: number): void {
    openedAtMs = atMs;
    for (const one of series) {
      one.lows.push({ atMs, bytes: one.low });
      one.low = Infinity;
      if (one.lows.length > windowsMax) one.lows.shift();
      judge(one);
    }
  }

  const timer = setInterval(() => {
    const usage = process.memoryUsage();
    for (const one of series) one.low = Math.min(one.low, one.kind.read(usage));
    const atMs = performance.now();
    if (atMs - openedAtMs >= windowMs) endWindow(atMs);
  }, windowMs / readingsPerWindow);
  timer.unref();
  return { close: () => clearInterval(timer) };
}

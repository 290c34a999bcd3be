// All workers of one process, as one thing that starts and ends.
import type { QueueContext } from "../client/context.ts";
import type { WorkerDefinition } from "../declaration.ts";
import type { QueueRecord } from "../contract.ts";
import { keepRoster } from "./roster.ts";
import { concurrencyDefault, makeRunner, type Runner, type RunnerDeps } from "./runner.ts";
import { makeSettler } from "./settler.ts";
import { makeWriter } from "./writes.ts";

export interface Workers {
  /** For metrics: what each worker holds in this process. */
  active(): { readonly queue: string; readonly running: number; readonly buffered: number }[];
  /**
   * Ends in order: no new claims, what has not begun goes back, what runs may finish until `deadlineMs` is over or
   * `hurry` aborts, the rest is aborted and goes back at once, outcomes are written.
   */
  stop(deadlineMs: number, hurry: AbortSignal): Promise<void>;
}

export type WorkersDeps = Omit<RunnerDeps, "settler" | "writer"> & {
  readonly onLost: (handler: () => void) => void;
};

const toConsumer = ({ worker: { options }, queue }: { worker: WorkerDefinition; queue: QueueRecord }) => ({
  queueId: queue.id,
  concurrency: options.concurrency ?? concurrencyDefault,
  globalConcurrency: options.globalConcurrency ?? null,
});

export function startWorkers(
  deps: WorkersDeps,
  pairs: readonly { worker: WorkerDefinition; queue: QueueRecord }[],
): Workers {
  const context: QueueContext = deps.context;
  const settler = makeSettler(context);
  const writer = makeWriter(context.database);
  const runners: Runner[] = pairs.map(({ worker, queue }) =>
    makeRunner({ ...deps, settler, writer }, worker, queue),
  );
  deps.onLost(() => runners.forEach((runner) => runner.lose()));
  for (const runner of runners) runner.start();
  const roster = keepRoster({ ...deps, database: context.database }, pairs.map(toConsumer));

  const deadline = (ms: number, hurry: AbortSignal) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.min(ms, 2 ** 31 - 1));
      timer.unref();
      if (hurry.aborted) resolve();
      hurry.addEventListener("abort", () => resolve(), { once: true });
    });

  return {
    active: () => runners.map((runner) => ({ queue: runner.name, ...runner.active() })),
    async stop(deadlineMs, hurry) {
      roster.close();
      await Promise.all(runners.map((runner) => runner.stopClaiming()));
      const running = runners.reduce((sum, runner) => sum + runner.active().running, 0);
      deps.log.info({ event: "service.stopped_taking", running }, "no new claims; draining");
      await Promise.race([
        Promise.all(runners.map((runner) => runner.drained())),
        deadline(deadlineMs, hurry),
      ]);
      await Promise.all(runners.map((runner) => runner.abandon()));
      await Promise.all([settler.idle(), writer.idle()]);
      deps.log.info({ event: "service.drained" }, "every outcome is written");
    },
  };
}

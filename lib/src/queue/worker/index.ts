// All workers of one process, as one thing that starts and ends.
import type { QueueContext } from "../client/context.ts";
import type { WorkerDefinition } from "../declaration.ts";
import type { QueueRecord } from "../contract.ts";
import type { Remote } from "../remote/contract.ts";
import { makeRemoteSource } from "../remote/source.ts";
import { keepRoster } from "./roster.ts";
import { concurrencyDefault } from "./pace.ts";
import { makeRunner, type Active, type Runner, type RunnerDeps, type Work } from "./runner.ts";
import { makeCommits, makeLocalSource, type LocalParts } from "./source.ts";

export interface Workers {
  /** For metrics: what each worker holds in this process. */
  active(): (Active & { readonly queue: string })[];
  /**
   * Ends in order: no new claims, what has not begun goes back, what runs may finish until `deadlineMs` is over or
   * `hurry` aborts, the rest is aborted and goes back at once, outcomes are written.
   */
  stop(deadlineMs: number, hurry: AbortSignal): Promise<void>;
}

export type WorkersDeps = RunnerDeps &
  Omit<LocalParts, "commits"> & {
    readonly onLost: (handler: () => void) => void;
  };

/** A worker with its queue, and where the queue lives if not in this database. */
export interface Pair {
  readonly worker: WorkerDefinition;
  readonly queue: QueueRecord;
  readonly remote?: Remote | undefined;
}

const toConsumer = ({ worker: { options }, queue }: Pair) => ({
  queueId: queue.id,
  concurrency: options.concurrency ?? concurrencyDefault,
  globalConcurrency: options.globalConcurrency ?? null,
  tenants: options.tenants ? JSON.stringify(options.tenants) : null,
});

/** What lies in this database is worked off beside what comes from elsewhere: replayed messages, say. */
function worksOf(deps: WorkersDeps, pairs: readonly Pair[]): Work[] {
  const commits = makeCommits(deps.context);
  return pairs.flatMap(({ worker, queue, remote }) => {
    const local = { worker, queue, source: makeLocalSource({ ...deps, commits }, worker, queue) };
    if (!remote) return [local];
    return [local, { worker, queue, source: makeRemoteSource({ ...deps, remote }, queue) }];
  });
}

export function startWorkers(deps: WorkersDeps, pairs: readonly Pair[]): Workers {
  const context: QueueContext = deps.context;
  const works = worksOf(deps, pairs);
  const runners: Runner[] = works.map((work) => makeRunner(deps, work));
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
      await Promise.all(works.flatMap(({ source: { settler, writer } }) => [settler.idle(), writer.idle()]));
      deps.log.info({ event: "service.drained" }, "every outcome is written");
    },
  };
}

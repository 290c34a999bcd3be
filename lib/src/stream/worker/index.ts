// All consumers of one process, as one thing that starts and ends.
import { streamErrors, type ConsumerDefinition } from "../contract.ts";
import { lockConsumer } from "../store/streams.ts";
import { makeIsolation } from "./isolation.ts";
import { makeRunner, type Runner, type RunnerDeps } from "./runner.ts";

export interface Consumers {
  /** For metrics: what each consumer holds in this process. */
  active(): {
    readonly stream: string;
    readonly consumer: string;
    readonly held: number;
    readonly running: number;
  }[];
  /** At each beat: of which consumers this process is a member. */
  beat(memberOf: ReadonlySet<number>): void;
  abandon(): void;
  /** No further batch; those under way may end until `end` aborts, then they are undone. Partitions are given back. */
  stop(end: AbortSignal): Promise<void>;
}

async function openRunner(deps: RunnerDeps, definition: ConsumerDefinition): Promise<Runner> {
  const { stream, name } = definition;
  const found = await deps.database.transaction((tx) => lockConsumer(tx, stream.name, name));
  if (found) return makeRunner(deps, definition, found);
  throw streamErrors.error("TUNTAS_STREAM_MISSING", `stream ${stream.name} has no consumer ${name}`);
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });

export async function startConsumers(
  given: Omit<RunnerDeps, "isolation">,
  definitions: readonly ConsumerDefinition[],
): Promise<Consumers> {
  const deps = { ...given, isolation: makeIsolation() };
  const runners = await Promise.all(definitions.map((each) => openRunner(deps, each)));
  return {
    active: () =>
      runners.map(({ definition, active }) => ({
        stream: definition.stream.name,
        consumer: definition.name,
        ...active(),
      })),
    beat: (memberOf) => runners.forEach((each) => each.beat(memberOf)),
    abandon: () => runners.forEach((each) => each.abandon()),
    async stop(end) {
      await Promise.race([Promise.all(runners.map((each) => each.drain())), aborted(end)]);
      await Promise.all(runners.map((each) => each.leave()));
    },
  };
}

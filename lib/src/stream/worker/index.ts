// All consumers of one process, as one thing that starts and ends.
import type { ConsumerDefinition } from "../contract.ts";
import { lockConsumer } from "../store/streams.ts";
import { makeRunner, refusalOf, type Runner, type RunnerDeps } from "./runner.ts";

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

/** Nobody where another has taken its place: a deployment from before has other work, which goes on. */
async function openRunners(deps: RunnerDeps, definition: ConsumerDefinition): Promise<Runner[]> {
  const { database, log } = deps;
  const { stream, name } = definition;
  const found = await database.transaction((tx) => lockConsumer(tx, stream.name, name));
  if (found) return [makeRunner(deps, definition, found)];
  const refusal = await refusalOf(database, definition);
  if (refusal.code !== "TUNTAS_CONSUMER_REPLACED") throw refusal;
  log.warn({ code: refusal.code, stream: stream.name, consumer: name }, refusal.message);
  return [];
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });

export async function startConsumers(
  deps: RunnerDeps,
  definitions: readonly ConsumerDefinition[],
): Promise<Consumers> {
  const runners = (await Promise.all(definitions.map((each) => openRunners(deps, each)))).flat();
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

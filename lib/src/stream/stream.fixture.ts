// What the tests of streams share: a stream under a fresh name, consumers of it, and a table that their handlers write to.
import { z } from "zod";
import { app, start, type RunningApp } from "../index.ts";
import { ask, watch } from "../queue/worker/worker.fixture.ts";
import type { TestPlatform } from "../testing/index.ts";
import type { ConsumerOptions, StreamContext, StreamOptions, StreamRecord } from "./contract.ts";
import { consumer, stream } from "./declaration.ts";

export const event = z.object({ n: z.number() });
export type Event = StreamRecord<z.infer<typeof event>>;

let names = 0;
export const freshName = (): string => `events-${process.pid}-${++names}`;

export const declare = (options: Partial<StreamOptions<typeof event>> = {}, name = freshName()) =>
  stream(name, {
    record: event,
    partitions: 4,
    key: "order id: what happens to an order",
    retention: "1h",
    owner: "orders-team",
    runbook: "runbooks/streams.md",
    ...options,
  });

export type TestStream = ReturnType<typeof declare>;
export type Settings = Partial<Omit<ConsumerOptions<typeof event>, "handle" | "handleBatch">> & {
  readonly handle?: (record: Event, context: StreamContext) => unknown;
  readonly handleBatch?: (records: readonly Event[], context: StreamContext) => unknown;
};

export const declareConsumer = (of: TestStream, options: Settings) =>
  consumer(of, {
    name: "projector",
    from: "start",
    batch: 100,
    onBadRecord: "park",
    retry: { attempts: 3, base: "10ms", max: "20ms" },
    timeout: "20s",
    lagWithin: "5m",
    ...options,
  } as ConsumerOptions<typeof event>);

/** Runs consumers of the stream; `handled` waits until so many records are handled by all that this process knows of. */
export async function run(
  kit: Pick<TestPlatform, "platform">,
  of: TestStream,
  ...all: Settings[]
): Promise<RunningApp & { handled(count: number): Promise<void> }> {
  const parts = Object.fromEntries(all.map((options, index) => [`c${index}`, declareConsumer(of, options)]));
  const signal = watch("stream.handled", ({ stream: name }) => name === of.name);
  const running = await start(app({ of, ...parts }), { platform: kit.platform });
  return {
    ...running,
    async handled(count) {
      const sum = () => signal.seen.reduce((total, { count: more }) => total + more, 0);
      for (let seen = 1; sum() < count; seen++) await signal.until(seen);
    },
    async [Symbol.asyncDispose]() {
      signal.close();
      await running.stop();
    },
  };
}

export const makeTable = (kit: TestPlatform) =>
  ask(
    kit.platform,
    `create table tuntas.effect (place bigint generated always as identity, stream text, consumer text, id text, key text, n integer, who text)`,
  );

/** Writes a row in the handler's transaction. */
export const insertInto =
  ({ schema }: Pick<TestPlatform, "schema">, who = "") =>
  async ({ id, key, value }: Event, { tx, caller }: StreamContext): Promise<void> => {
    await tx.query(`insert into ${schema}.effect (stream, id, key, n, who) values ($1, $2, $3, $4, $5)`, [
      caller.split("/")[0],
      id,
      key,
      value.n,
      who,
    ]);
  };

export const effects = (kit: TestPlatform, of: TestStream) =>
  ask<{ id: string; key: string; n: number; who: string }>(
    kit.platform,
    "select id, key, n, who from tuntas.effect where stream = $1 order by place",
    [of.name],
  );

/** The numbers of each key, in the order in which they were written. */
export function byKey(
  rows: readonly { readonly key: string; readonly n: number }[],
): Record<string, number[]> {
  const keys: Record<string, number[]> = {};
  for (const { key, n } of rows) (keys[key] ??= []).push(n);
  return keys;
}

export const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

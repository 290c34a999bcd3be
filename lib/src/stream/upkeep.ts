// What any one process does for all streams: after a death, and once a minute. Segments are begun and dropped, what nobody
// works on is freed.
import type { Log } from "../engine/log.ts";
import type { Database } from "../pg/database.ts";
import type { Runner } from "../pg/join.ts";
import { streamSignals } from "./signals.ts";
import { dropped, isRollDue } from "./state.ts";
import { findStuck, freePartitions, freeStrays, type Freed } from "./store/deaths.ts";
import * as store from "./store/streams.ts";
import { consumerKey, tell, type Telling } from "./wake.ts";

export interface Upkeep {
  /** Frees what the dead held. */
  takeOver(processIds: readonly string[]): Promise<void>;
  sweep(): Promise<void>;
}

export interface UpkeepOptions extends Telling {
  readonly database: Database;
  readonly log: Log;
}

export function makeUpkeep({ database, log, ...telling }: UpkeepOptions): Upkeep {
  /** After its commit. */
  function freed({ consumerIds, fatal }: Freed): void {
    for (const id of consumerIds) tell(telling, consumerKey(id));
    for (const failure of fatal) {
      streamSignals.publish("stream.failed", { ...failure });
      log.warn({ event: "stream.failed", ...failure }, failure.reason);
    }
  }

  const takeOver = async (processIds: readonly string[]) => freed(await freePartitions(database, processIds));

  async function freeAllStuck(): Promise<void> {
    for (const processId of await findStuck(database)) {
      freed(await freePartitions(database, [processId]));
      streamSignals.publish("stream.stuck", { processId });
    }
  }

  /** Looks again with the partitions held: of two sweeps at once one begins the segment. */
  async function rollIfDue({ id, retentionMs }: store.StreamRow): Promise<void> {
    const isDue = async (sql: Runner): Promise<boolean> => {
      const last = await store.readLastSegment(sql, id);
      return last !== undefined && isRollDue(last.ageMs, last.records, retentionMs);
    };
    if (!(await isDue(database))) return;
    await database.transaction(async (tx) => {
      await store.sequence(tx, id);
      if (await isDue(tx)) await store.roll(tx, id);
    });
  }

  /** Looks again with the partitions held, so that no consumer is put back meanwhile; answers how many went. */
  const dropUnread = (id: number, retentionMs: number): Promise<number> =>
    database.transaction(async (tx) => {
      await store.sequence(tx, id);
      const { drop } = dropped(await store.readSealed(tx, id), retentionMs);
      await store.dropSegments(
        tx,
        id,
        drop.map(({ segment }) => segment),
      );
      return drop.length;
    });

  async function dropOver({ id, name, retentionMs }: store.StreamRow): Promise<void> {
    const { drop, held } = dropped(await store.readSealed(database, id), retentionMs);
    if (drop.length > 0) {
      const segments = await dropUnread(id, retentionMs);
      streamSignals.publish("stream.dropped", { stream: name, segments });
    }
    if (held.length > 0) {
      const consumers = [...new Set(held.flatMap(({ unreadBy }) => unreadBy))].join(", ");
      streamSignals.publish("stream.held", { stream: name, segments: held.length, consumers });
    }
  }

  return {
    takeOver,
    async sweep() {
      freed(await freeStrays(database));
      await freeAllStuck();
      for (const stream of await store.findStreams(database, null)) {
        await rollIfDue(stream);
        await dropOver(stream);
      }
    },
  };
}

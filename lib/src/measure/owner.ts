// Who answers for the thing that a series is about, as code has declared it.
import type { Responsible } from "../alarm/evaluator.ts";
import { defaultScope } from "../queue/contract.ts";
import type { Queues } from "../queue/client/index.ts";
import type { Schedules } from "../schedule/client.ts";
import type { Labels } from "../series/contract.ts";
import type { Streams } from "../stream/client/index.ts";

interface Declared {
  readonly queues: Pick<Queues, "catalog">;
  readonly schedules: Pick<Schedules, "list">;
  readonly streams: Pick<Streams, "list">;
}

export const makeOwnerOf =
  ({ queues, schedules, streams }: Declared) =>
  async ({ queue, schedule, stream }: Labels): Promise<Responsible | undefined> => {
    if (stream !== undefined) return (await streams.list()).find(({ name }) => name === stream);
    const found =
      schedule !== undefined
        ? (await schedules.list()).find(({ name }) => name === schedule)
        : queue !== undefined && (await queues.catalog.find(defaultScope, queue));
    return found && found.owner ? { owner: found.owner, runbook: found.runbook } : undefined;
  };

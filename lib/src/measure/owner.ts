// Who answers for the thing that a series is about, as code has declared it.
import type { Responsible } from "../alarm/evaluator.ts";
import { defaultScope } from "../queue/contract.ts";
import type { Queues } from "../queue/client/index.ts";
import type { Schedules } from "../schedule/client.ts";
import type { Labels } from "../series/contract.ts";

interface Declared {
  readonly queues: Pick<Queues, "catalog">;
  readonly schedules: Pick<Schedules, "list">;
}

export const makeOwnerOf =
  ({ queues, schedules }: Declared) =>
  async ({ queue, schedule }: Labels): Promise<Responsible | undefined> => {
    const found =
      schedule !== undefined
        ? (await schedules.list()).find(({ name }) => name === schedule)
        : queue !== undefined && (await queues.catalog.find(defaultScope, queue));
    return found && found.owner ? { owner: found.owner, runbook: found.runbook } : undefined;
  };

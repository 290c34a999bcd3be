// Who answers for the thing that a series is about, as code has declared it.
import type { Responsible } from "../alarm/evaluator.ts";
import type { Backfills } from "../batch/backfill/client.ts";
import type { Batches } from "../batch/client.ts";
import type { Commands } from "../operation/command/client.ts";
import type { OwnedEndpoint } from "../outbox/endpoints.ts";
import { defaultScope } from "../queue/contract.ts";
import type { Queues } from "../queue/client/index.ts";
import type { Schedules } from "../schedule/client.ts";
import type { Labels } from "../series/contract.ts";
import type { Streams } from "../stream/client/index.ts";

interface Declared {
  readonly queues: Pick<Queues, "catalog">;
  readonly schedules: Pick<Schedules, "list">;
  readonly batches: Pick<Batches, "list">;
  readonly backfills: Pick<Backfills, "list">;
  readonly streams: Pick<Streams, "list">;
  readonly commands: Pick<Commands, "list">;
  readonly endpoints: { readonly list: () => Promise<OwnedEndpoint[]> };
}

const named = async <T extends { readonly name: string }>(name: string, all: Promise<readonly T[]>) =>
  (await all).find((each) => each.name === name);

export const makeOwnerOf =
  ({ queues, schedules, batches, backfills, streams, commands, endpoints }: Declared) =>
  async (of: Labels): Promise<Responsible | undefined> => {
    const { queue, schedule, batch, backfill, stream, command, kind, name } = of;
    const found =
      (kind === "http" && name !== undefined && (await named(name, endpoints.list()))) ||
      (stream !== undefined && (await named(stream, streams.list()))) ||
      (schedule !== undefined && (await named(schedule, schedules.list()))) ||
      (command !== undefined && (await named(command, commands.list()))) ||
      (backfill !== undefined && (await named(backfill, backfills.list()))) ||
      (batch !== undefined && (await named(batch, batches.list()))) ||
      (queue !== undefined && (await queues.catalog.find(defaultScope, queue)));
    return found && found.owner ? { owner: found.owner, runbook: found.runbook } : undefined;
  };

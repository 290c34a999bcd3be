// Batches as a place where a room above or beside this one begins work: a schedule starts a job in its own transaction and
// waits for its end; an announcement starts one too.
import type { Destination } from "../engine/destination.ts";
import type { JoiningTarget } from "../engine/target.ts";
import type { Tx } from "../pg/contract.ts";
import type { Started, StartOptions } from "./contract.ts";
import { hasEnded, readFates } from "./store/jobs.ts";

type StartIn = (tx: Tx, name: string, input: unknown, options: StartOptions) => Promise<Started>;

export const batchDestination = (startIn: StartIn): Destination => ({
  begin: async (tx, { target, key, group, input }) =>
    (
      await startIn(tx, target.name, JSON.parse(input), {
        key,
        by: `schedule ${group}`,
        reason: "it was due",
      })
    ).jobId,
  hasEnded,
  fates: (sql, _, ids) => readFates(sql, ids),
});

/** The event's id is the job's key, so that an announcement that comes twice starts one job. */
export const batchTarget = (startIn: StartIn): JoiningTarget => ({
  async deliverIn(tx, announcements) {
    const started: Started[] = [];
    for (const { target, eventId, payload } of announcements)
      started.push(
        await startIn(tx, target.name, JSON.parse(payload), {
          key: eventId,
          by: "outbox",
          reason: "it was announced",
        }),
      );
    return started.map(({ status, jobId }) => ({
      status: status === "created" ? "created" : "duplicate",
      reference: jobId,
    }));
  },
});

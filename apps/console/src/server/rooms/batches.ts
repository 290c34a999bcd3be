// Batches: what their jobs come to, partition by partition, and what people say to them, as JSON.
import { jobStates, partitionStates } from "tuntas/batch";
import type { BatchActs, BatchReads, JobVerb } from "../../api/index.ts";
import { makeMasking } from "../masking.ts";
import type { ActsOf, Needs, ReadsOf } from "../needs.ts";
import { paged } from "./queues.ts";

const pageMax = 200;
const verbs: readonly JobVerb[] = ["pause", "resume", "retry", "cancel"];

export function batchReads(needs: Needs): ReadsOf<keyof BatchReads> {
  const { batches, access, workflows } = needs.platform;
  return {
    batches: () => batches.list(),
    async "batch.jobs"(query, who) {
      const state = query.choice("state", jobStates);
      const mask = makeMasking(needs, who, "batch");
      const rows = await batches.jobs({
        batch: query.optional("batch"),
        before: query.optionalId("after"),
        limit: pageMax + 1,
        ...(state && { states: [state] }),
      });
      const shown = rows.map(async (row) => ({ ...row, input: await mask(row.batch, row.input) }));
      return paged(await Promise.all(shown), pageMax, (last) => last.id);
    },
    async "batch.job"(query, who) {
      const job = await batches.job(query.id("id"));
      const [all, [lastAct], input] = await Promise.all([
        batches.list(),
        access.record({ subject: `job ${job.id}` }, { limit: 1 }),
        makeMasking(needs, who, "batch")(job.batch, job.input),
      ]);
      const declared = all.find(({ name }) => name === job.batch)!;
      return { ...job, input, declared, nowMs: workflows.nowMs(), lastAct: lastAct ?? null };
    },
    async "batch.partitions"(query) {
      const rows = await batches.partitions(query.id("id"), {
        state: query.choice("state", partitionStates),
        after: Number(query.optionalId("after") ?? 0),
        limit: pageMax + 1,
      });
      return paged(rows, pageMax, (last) => String(last.number));
    },
  };
}

export const batchActs = (needs: Needs): ActsOf<keyof BatchActs> => ({
  "batch.say": {
    may: "batch.change",
    async run(body, who) {
      const act = { by: who.name, reason: body.text("reason") };
      const job = await needs.platform.batches.say(body.oneOf("verb", verbs), body.id("id"), act);
      return { ...job, input: await makeMasking(needs, who, "batch")(job.batch, job.input) };
    },
  },
});

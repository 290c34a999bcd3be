import type { BatchReport, JobReport } from "tuntas/batch";
import type { Decision } from "../../api/index.ts";
import { counted, pageAt, type Look } from "./decision.ts";

const rowsMax = 200;

function decisionOf(job: JobReport, { owner, runbook }: BatchReport, nowMs: number): Decision {
  const { id, batch, state, failure, partitions, movedAtMs } = job;
  const href = `/batches/${id}`;
  const base = {
    id: `batch:${id}`,
    kind: "batch" as const,
    owner,
    runbook,
    ageMs: Math.max(0, nowMs - movedAtMs),
  };
  if (state === "paused")
    return {
      ...base,
      urgency: "soon",
      title: `Job ${id} of ${batch} is paused`,
      detail: `${counted(partitions.done, "partition")} of ${partitions.total} done; nothing goes on until somebody resumes it`,
      action: { label: "Look at it", href },
    };
  const some = partitions.failed > 0;
  return {
    ...base,
    urgency: "now",
    title: `Job ${id} of ${batch} failed${some ? ` in ${counted(partitions.failed, "partition")}` : ""}`,
    detail: failure ?? "Nothing was promoted",
    action: {
      label: "Mend, then retry",
      href: pageAt(href, { state: some ? "failed" : undefined }),
    },
  };
}

export const batches: Look = {
  name: "jobs of batches that failed or are paused",
  async find({ platform }) {
    const jobs = await platform.batches.jobs({ states: ["failed", "paused"], limit: rowsMax });
    if (jobs.length === 0) return [];
    const declared = new Map((await platform.batches.list()).map((each) => [each.name, each]));
    const nowMs = platform.workflows.nowMs();
    return jobs.map((job) => decisionOf(job, declared.get(job.batch)!, nowMs));
  },
};

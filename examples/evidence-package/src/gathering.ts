// The parts of a package: a partition for the timeline and for each paper, staged, and promoted together.
import { batch, rejected, task } from "tuntas";
import { waitingStep } from "tuntas/workflow";
import { z } from "zod";
import { putFile } from "./files.ts";
import { ids, retry, team } from "./settings.ts";
import {
  papersOf,
  promoteParts,
  readPaper,
  readTimeline,
  setPartsJob,
  stagePart,
  type Part,
} from "./store.ts";

const source = z.object({ kind: z.enum(["timeline", "document", "attachment"]), name: z.string() });

export const evidenceParts = batch("evidence-parts", {
  input: z.object({ packageId: z.string(), sources: z.array(source) }),
  partitions: ({ sources }) => sources.map((each) => ({ key: `${each.kind} ${each.name}`, ...each })),
  async handle({ kind, name }, { job, number, database, write }) {
    const { packageId } = job.input;
    const text =
      kind === "timeline"
        ? (await readTimeline(database, packageId)).join("\n")
        : await readPaper(database, packageId, name);
    // No attempt will find more: the job fails at once, with the part's name.
    if (text === "") throw rejected({ code: "PART_EMPTY", message: `${name} is empty` });
    const part: Part = { kind, name, ...(await putFile(Buffer.from(text))) };
    write(...stagePart({ job, number }, part));
  },
  validate: ({ rows, partitions }) => (rows === partitions ? [] : [`${rows} of ${partitions} parts`]),
  promote: ({ job, tx }) => promoteParts(tx, job.input.packageId, job.id),
  staging: { table: "evidence.part_staging", kept: "1d" },
  announce: waitingStep,
  ...retry,
  timeout: "20s",
  concurrency: 8,
  priority: 0,
  runsOn: "anywhere",
  ...team,
});

/** Starts the job; its end is the step's. */
export const gatherParts = task({
  input: ids,
  idempotent: true,
  async handle({ packageId }, { tx, tokenReference, workflowName }) {
    const sources = [{ kind: "timeline" as const, name: "timeline.txt" }, ...(await papersOf(tx, packageId))];
    const act = { by: workflowName, reason: packageId };
    const { jobId } = await evidenceParts.start({ packageId, sources }, { tx, key: tokenReference, ...act });
    await setPartsJob(tx, packageId, jobId);
  },
});

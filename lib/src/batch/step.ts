// What the messages of a batch's queue say: which step of which job. A message counts only while the row that it is about
// has its number, so that one which was sent before a pause, a retry or a cancellation is void, wherever it lies.
import type { Schema } from "../core/schema.ts";

interface Counted {
  readonly job: string;
  readonly run: number;
}

export interface PlanStep extends Counted {
  readonly step: "plan";
}

export interface PartitionStep extends Counted {
  readonly step: "partition";
  readonly number: number;
}

export interface PromoteStep extends Counted {
  readonly step: "promote";
}

export type Step = PlanStep | PartitionStep | PromoteStep;

/** A step as the body of its message: the job comes first, so that the messages of one are told by how they begin. */
export const bodyOf = ({ job, ...rest }: Step): string => JSON.stringify({ job, ...rest });

/** How the messages of a job begin. */
export const beginningOf = (job: string): string => `${JSON.stringify({ job }).slice(0, -1)},`;

const isStep = (value: unknown): value is Step => {
  const { job, step, run, number } = (value ?? {}) as Record<string, unknown>;
  return (
    typeof job === "string" &&
    Number.isInteger(run) &&
    (step === "plan" || step === "promote" || (step === "partition" && Number.isInteger(number)))
  );
};

export const stepMessage: Schema<Step, Step> = {
  "~standard": {
    version: 1,
    vendor: "tuntas",
    validate: (value) =>
      isStep(value) ? { value } : { issues: [{ message: "expected a step of a batch's job" }] },
  },
};

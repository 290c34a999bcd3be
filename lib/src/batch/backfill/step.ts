// What the messages of a backfill's queue say: which step of which run. A message counts only while the row that it is about
// has its turn, so that one which was sent before a pause or an end is void, wherever it lies.
import type { Schema } from "../../core/schema.ts";

export interface RunStep {
  readonly step: "plan" | "sample" | "verify";
  readonly run: string;
  readonly turn: number;
}

export interface SliceStep {
  readonly step: "slice";
  readonly run: string;
  /** Of the partition. */
  readonly number: number;
  readonly turn: number;
}

export type Step = RunStep | SliceStep;

/** A step as the body of its message: the run comes first, so that the messages of one are told by how they begin. */
export const bodyOf = ({ run, ...rest }: Step): string => JSON.stringify({ run, ...rest });

/** How the messages of a run begin. */
export const beginningOf = (run: string): string => `${JSON.stringify({ run }).slice(0, -1)},`;

const isStep = (value: unknown): value is Step => {
  const { run, step, turn, number } = (value ?? {}) as Record<string, unknown>;
  return (
    typeof run === "string" &&
    Number.isInteger(turn) &&
    (["plan", "sample", "verify"].includes(step as string) || (step === "slice" && Number.isInteger(number)))
  );
};

export const stepMessage: Schema<Step, Step> = {
  "~standard": {
    version: 1,
    vendor: "tuntas",
    validate: (value) =>
      isStep(value) ? { value } : { issues: [{ message: "expected a step of a backfill's run" }] },
  },
};

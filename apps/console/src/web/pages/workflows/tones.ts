import type { ExecutionRecord, VisitOutcome } from "../../../api/index.ts";
import type { Tone } from "../../furniture/badge.tsx";

/** A child of a map run may also wait for its redrive. */
export type Status = ExecutionRecord["status"];

export const statusTones: Readonly<Record<Status, Tone>> = {
  RUNNING: "active",
  SUCCEEDED: "good",
  FAILED: "danger",
  TIMED_OUT: "danger",
  ABORTED: "warn",
  PENDING_REDRIVE: "active",
};

export const statusText = (status: Status): string => status.toLowerCase().replace("_", " ");

export const outcomeTones: Readonly<Record<VisitOutcome, Tone>> = {
  running: "active",
  succeeded: "good",
  caught: "warn",
  failed: "danger",
  "timed out": "danger",
  aborted: "warn",
};

import type { ExecutionSummary, VisitOutcome } from "../../../api/index.ts";
import type { Tone } from "../../furniture/badge.tsx";

export type Status = ExecutionSummary["status"];

export const statusTones: Readonly<Record<Status, Tone>> = {
  RUNNING: "active",
  SUCCEEDED: "good",
  FAILED: "danger",
  TIMED_OUT: "danger",
  ABORTED: "warn",
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

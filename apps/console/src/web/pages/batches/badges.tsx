import type { JobState, PartitionState } from "../../../api/index.ts";
import { Badge, type Tone } from "../../furniture/badge.tsx";

export const jobTones: Readonly<Record<JobState, Tone>> = {
  planning: "active",
  waiting: "idle",
  running: "active",
  promoting: "active",
  completed: "good",
  failed: "danger",
  paused: "warn",
  cancelled: "idle",
};

export function JobBadge({ state }: { readonly state: JobState }) {
  return <Badge tone={jobTones[state]}>{state}</Badge>;
}

const partitions: Readonly<Record<PartitionState, Tone>> = {
  pending: "idle",
  running: "active",
  done: "good",
  failed: "danger",
  cancelled: "idle",
};

export function PartitionBadge({ state }: { readonly state: PartitionState }) {
  return <Badge tone={partitions[state]}>{state}</Badge>;
}

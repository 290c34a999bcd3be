import type { ConsumerStanding, Parked, PartitionStanding, StreamSummary } from "../../../api/index.ts";
import { Badge, type Tone } from "../../furniture/badge.tsx";

const standings: Readonly<Record<StreamSummary["standing"], Tone>> = {
  stopped: "danger",
  "nobody reads": "danger",
  behind: "warn",
  parked: "warn",
  "on time": "good",
  "not read": "idle",
};

export function StandingBadge({ standing }: { readonly standing: ConsumerStanding | "not read" }) {
  return <Badge tone={standings[standing]}>{standing}</Badge>;
}

/** The same for tables and for the line of partitions. */
export const partitionTones: Readonly<Record<PartitionStanding, Tone>> = {
  stopped: "danger",
  "nobody reads": "danger",
  "tried again": "warn",
  behind: "warn",
  reading: "active",
  "all read": "good",
};

export function PartitionBadge({ standing }: { readonly standing: PartitionStanding }) {
  return <Badge tone={partitionTones[standing]}>{standing}</Badge>;
}

export const ParkedBadge = ({ record: { replaying } }: { readonly record: Parked }) =>
  replaying ? <Badge tone="active">replaying</Badge> : <Badge tone="warn">parked</Badge>;

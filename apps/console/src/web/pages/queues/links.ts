import type { Explanation } from "../../../api/index.ts";
import type { Tone } from "../../furniture/badge.tsx";

export const queueHref = (name: string): string => `/queues/${encodeURIComponent(name)}`;

export const stateTones: Readonly<Record<Explanation["state"], Tone>> = {
  ready: "active",
  delayed: "idle",
  in_flight: "active",
  dead: "warn",
  quarantined: "danger",
  rejected: "idle",
};

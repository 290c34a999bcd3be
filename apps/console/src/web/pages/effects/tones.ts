import type { EffectRow } from "../../../api/index.ts";
import type { Tone } from "../../furniture/badge.tsx";

export const tones: Readonly<Record<EffectRow["state"], Tone>> = {
  pending: "active",
  succeeded: "good",
  failed: "warn",
  unknown: "danger",
};

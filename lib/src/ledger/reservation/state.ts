// What an act on a reservation comes to, by the state that it is found in. Pure.
import type { ReservationState } from "./contract.ts";

export type Act = "confirm" | "release" | "renew";
export type Verdict = "moves" | "was so already" | "expired" | "wrong state";

const results: Readonly<Partial<Record<Act, ReservationState>>> = {
  confirm: "confirmed",
  release: "released",
};

/** Releasing what ran out is harmless; confirming or renewing it is not. */
export function verdictOf(act: Act, state: ReservationState, overdue: boolean): Verdict {
  if (state === results[act]) return "was so already";
  if (state === "expired" || (state === "reserved" && overdue)) {
    if (act !== "release") return "expired";
    return state === "reserved" ? "moves" : "was so already";
  }
  return state === "reserved" ? "moves" : "wrong state";
}

// What an act on a reservation comes to, by the state that it is found in. Pure.
import type { ReservationState } from "./contract.ts";

export type Act = "confirm" | "release" | "renew";
export type Verdict = "moves" | "was so already" | "expired" | "wrong state";

const results: Readonly<Partial<Record<Act, ReservationState>>> = {
  confirm: "confirmed",
  release: "released",
};

/** What ran out is expired, whether or not a sweep has been by. Releasing it is harmless; confirming or renewing it is not. */
export const stateNow = (state: ReservationState, overdue: boolean): ReservationState =>
  state === "reserved" && overdue ? "expired" : state;

export function verdictOf(act: Act, state: ReservationState): Verdict {
  if (state === "reserved") return "moves";
  if (state === results[act]) return "was so already";
  if (state === "expired") return act === "release" ? "was so already" : "expired";
  return "wrong state";
}

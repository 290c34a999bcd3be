// What a caller of reservations sees. A reservation is business state with an expiry, never a lock.
import type { Duration } from "../../core/duration.ts";
import type { TargetName } from "../../engine/target.ts";

export type ReservationState = "reserved" | "confirmed" | "released" | "expired";

export interface Reservation {
  readonly id: string;
  /** `case-number`, `inventory`, `slot`, `quota`, or whatever else can be taken. */
  readonly kind: string;
  readonly resource: string;
  /** Which place of the resource: 1 where it has but one. */
  readonly unit: number;
  readonly holder: string;
  readonly state: ReservationState;
  readonly expiresAtMs: number;
}

export interface ReserveOptions {
  readonly kind: string;
  readonly resource: string;
  /** Who gets it. The same holder asking again gets the same reservation. */
  readonly holder: string;
  /** How long it holds unless it is confirmed, renewed or released. */
  readonly expiresIn: Duration;
  /** How many places the resource has; 1 by default. */
  readonly capacity?: number;
  /** Who is told when it expires: an announcement with the reservation's id as its key. */
  readonly notify?: TargetName;
}

/** `conflict`: every place is taken. */
export type ReserveAnswer =
  | { readonly status: "created" | "duplicate"; readonly reservation: Reservation }
  | { readonly status: "conflict"; readonly kind: string; readonly resource: string };

/** `duplicate`: it was so already. */
export interface MoveAnswer {
  readonly status: "created" | "duplicate";
  readonly reservation: Reservation;
}

// Reserve now, confirm or release later, each in a short transaction of the caller's.
import { refuseUnknown, type NamesOf } from "../../core/options.ts";
import type { Duration } from "../../core/duration.ts";
import { toMs } from "../../core/duration.ts";
import type { Runner, Transaction } from "../../pg/join.ts";
import { join } from "../../pg/join.ts";
import { checkKey } from "../canonical.ts";
import { ledgerErrors } from "../contract.ts";
import type { MoveAnswer, Reservation, ReserveAnswer, ReserveOptions } from "./contract.ts";
import type { Act } from "./state.ts";
import { stateNow, verdictOf } from "./state.ts";
import type { ReservationRow } from "./store.ts";
import { findHeld, findReservation, lapseOf, moves, takeUnit } from "./store.ts";

const optionNames: NamesOf<ReserveOptions> = {
  kind: true,
  resource: true,
  holder: true,
  expiresIn: true,
  capacity: true,
  notify: true,
};

const triesMax = 3;

const plain = ({ overdue, state, ...reservation }: ReservationRow): Reservation => ({
  ...reservation,
  state: stateNow(state, overdue),
});

function checkOptions({ kind, resource, holder, capacity = 1 }: ReserveOptions): void {
  checkKey("kind", kind);
  checkKey("resource", resource);
  checkKey("holder", holder);
  if (Number.isInteger(capacity) && capacity >= 1 && capacity <= 10_000) return;
  throw ledgerErrors.error(
    "TUNTAS_REQUEST_INVALID",
    `capacity: expected a whole number from 1 to 10000, got ${capacity}`,
  );
}

/**
 * Takes a place of the resource until it expires. Errors: TUNTAS_RESERVATION_BUSY (retryable: the last place is being
 * taken by a transaction that is still open).
 */
export async function reserve(tx: Transaction, options: ReserveOptions): Promise<ReserveAnswer> {
  refuseUnknown("reserve", options, optionNames);
  checkOptions(options);
  const runner = join(tx);
  const { kind, resource } = options;
  await lapseOf(runner, kind, resource);
  for (let attempt = 1; attempt <= triesMax; attempt++) {
    const held = await findHeld(runner, options);
    if (held) return { status: "duplicate", reservation: plain(held) };
    const { vacant, row } = await takeUnit(runner, options, toMs(options.expiresIn, "reserve: expiresIn"));
    if (row) return { status: "created", reservation: plain(row) };
    if (vacant === 0) return { status: "conflict", kind, resource };
  }
  throw ledgerErrors.error(
    "TUNTAS_RESERVATION_BUSY",
    `${kind} ${resource}: expected a free place, but others are taking the last ones`,
  );
}

type Move = (runner: Runner) => Promise<ReservationRow | undefined>;

async function act(
  tx: Transaction,
  { id, name, move }: { id: string; name: Act; move: Move },
): Promise<MoveAnswer> {
  const runner = join(tx);
  const moved = await move(runner);
  if (moved) return { status: "created", reservation: plain(moved) };
  const found = await findReservation(runner, id);
  if (!found)
    throw ledgerErrors.error(
      "TUNTAS_RESERVATION_MISSING",
      `expected a reservation, got the unknown id ${id}`,
    );
  const verdict = verdictOf(name, stateNow(found.state, found.overdue));
  if (verdict === "was so already") return { status: "duplicate", reservation: plain(found) };
  const label = `reservation ${id} of ${found.kind} ${found.resource}`;
  if (verdict === "expired") {
    throw ledgerErrors.error(
      "TUNTAS_RESERVATION_EXPIRED",
      `${label}: expected one that holds, but it expired at ${new Date(found.expiresAtMs).toISOString()}`,
    );
  }
  throw ledgerErrors.error("TUNTAS_RESERVATION_STATE", `${label}: cannot ${name} what is ${found.state}`);
}

/** Makes it final. Errors: TUNTAS_RESERVATION_EXPIRED, TUNTAS_RESERVATION_STATE, TUNTAS_RESERVATION_MISSING. */
export const confirm = (tx: Transaction, id: string): Promise<MoveAnswer> =>
  act(tx, { id, name: "confirm", move: (runner) => moves.confirm(runner, id) });

/** Gives it back; again is harmless. Errors: TUNTAS_RESERVATION_STATE where it is confirmed, TUNTAS_RESERVATION_MISSING. */
export const release = (tx: Transaction, id: string): Promise<MoveAnswer> =>
  act(tx, { id, name: "release", move: (runner) => moves.release(runner, id) });

/** Lets it hold for this long from now, never shorter than before. Errors: as of `confirm`. */
export const renew = (tx: Transaction, id: string, expiresIn: Duration): Promise<MoveAnswer> =>
  act(tx, {
    id,
    name: "renew",
    move: (runner) => moves.renew(runner, id, toMs(expiresIn, "renew: expiresIn")),
  });

// Reservations whose time is over, and telling their owners, in one commit.
import type { TargetName } from "../../engine/target.ts";
import type { Sql, Tx } from "../../pg/contract.ts";
import { ledgerSignals } from "../signals.ts";
import { lapseOverdue, takeUntold } from "./store.ts";

/** Writes an announcement in the transaction; platform.ts binds it to the outbox. */
export type Announce = (
  tx: Tx,
  announcements: readonly { target: TargetName; key: string; type: string; payload: string }[],
) => Promise<unknown>;

const rowsMax = 500;

/** Expires what is overdue and announces it. Answers how many expired. */
export async function sweepReservations(sql: Sql, announce: Announce): Promise<number> {
  const expired = await sql.transaction(async (tx) => {
    const count = await lapseOverdue(tx, rowsMax);
    const untold = await takeUntold(tx, rowsMax);
    await announce(
      tx,
      untold.map(({ notifyKind: kind, notifyName: name, ...reservation }) => ({
        target: { kind, name },
        key: reservation.id,
        type: "ReservationExpired",
        payload: JSON.stringify(reservation),
      })),
    );
    return count;
  });
  if (expired > 0) ledgerSignals.publish("reservation.expired", { count: expired });
  return expired;
}

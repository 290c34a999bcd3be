import { listReservations } from "tuntas/ledger";
import type { Command } from "../../command.ts";
import { elapsed, table } from "../../render.ts";
import { withPlatform } from "../../session.ts";

const states = ["reserved", "confirmed", "released", "expired"] as const;

export const reservationList: Command = {
  name: "reservation list",
  summary: "Lists who has reserved what and until when; those that run out first at the top.",
  options: {
    kind: { value: "KIND", meaning: "only reservations of this kind, such as case-number" },
    holder: { value: "NAME", meaning: "only those of this holder" },
    state: { value: "STATE", meaning: `only those that are ${states.join(", ")}` },
    overdue: { meaning: "only those that ran out and are not yet marked expired" },
  },
  examples: [
    ["tuntas reservation list --state reserved", "what is held at the moment, and how much longer?"],
    ["tuntas reservation list --overdue --json", "does the sweep keep up?"],
  ],
  no: "some are overdue",
  run: (call) =>
    withPlatform(async ({ database }) => {
      const rows = await listReservations(database, {
        kind: call.text("kind"),
        holder: call.text("holder"),
        state: call.oneOf("state", states),
        overdue: call.flag("overdue"),
      });
      const nowMs = Date.now();
      const text = table(rows, {
        id: (row) => row.id,
        kind: (row) => row.kind,
        resource: (row) => row.resource,
        unit: (row) => row.unit,
        holder: (row) => row.holder,
        state: (row) => (row.state === "reserved" && row.overdue ? "overdue" : row.state),
        "runs out in": (row) => (row.state === "reserved" ? elapsed(row.expiresAtMs - nowMs) : null),
        made: (row) => `${elapsed(row.ageMs)} ago`,
      });
      const overdue = rows.some((row) => row.state === "reserved" && row.overdue);
      return { document: rows, text, status: overdue ? 1 : 0 };
    }),
};

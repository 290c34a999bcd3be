import { useState } from "react";
import type { ReservationRow } from "../../../api/index.ts";
import { listOf, useAct, useRead } from "../../api/hooks.ts";
import { useMay } from "../../api/session.ts";
import { Badge, type Tone } from "../../furniture/badge.tsx";
import { Confirm } from "../../furniture/confirm.tsx";
import { useQueryOf } from "../../furniture/filtered.ts";
import { List } from "../../furniture/list.tsx";
import type { Column } from "../../furniture/table.tsx";
import { Age, Instant } from "../../furniture/time.tsx";
import { actColumn } from "./act-column.tsx";

const tones: Readonly<Record<ReservationRow["state"], Tone>> = {
  reserved: "active",
  confirmed: "good",
  released: "idle",
  expired: "idle",
};

const columns: readonly Column<ReservationRow>[] = [
  {
    key: "state",
    head: "State",
    width: "8.5rem",
    cell: ({ state, overdue }) =>
      state === "reserved" && overdue ? (
        <Badge tone="warn">overdue</Badge>
      ) : (
        <Badge tone={tones[state]}>{state}</Badge>
      ),
  },
  { key: "kind", head: "Kind", width: "11rem", cell: ({ kind }) => kind },
  {
    key: "resource",
    head: "Resource",
    cell: ({ resource, unit }) => (unit === 1 ? resource : `${resource} #${unit}`),
  },
  { key: "holder", head: "Holder", cell: ({ holder }) => holder },
  {
    key: "expires",
    head: "Expires",
    width: "10.5rem",
    cell: ({ expiresAtMs }) => <Instant ms={expiresAtMs} />,
  },
  {
    key: "age",
    head: "Held for",
    width: "7rem",
    align: "right",
    wideOnly: true,
    cell: ({ ageMs }) => <Age ms={ageMs} />,
  },
];

function Release({ row, onClose }: { readonly row: ReservationRow; readonly onClose: () => void }) {
  const release = useAct("reservation.release");
  return (
    <Confirm
      title={`Give ${row.resource} back`}
      verb="Release"
      onClose={onClose}
      run={async (reason) => {
        await release.mutateAsync({ id: row.id, reason });
        return "It is free again.";
      }}
    >
      <p>
        {row.holder} loses it, and anybody may take it. What {row.holder} does next with it is refused.
      </p>
    </Confirm>
  );
}

const filters = [
  {
    kind: "choice",
    name: "state",
    label: "State",
    choices: [
      ["", "Every state"],
      ["reserved", "Reserved"],
      ["confirmed", "Confirmed"],
      ["expired", "Expired"],
      ["released", "Released"],
    ],
  },
  { kind: "search", name: "kind", label: "Kind" },
  { kind: "search", name: "holder", label: "Holder" },
] as const;

export function Reservations() {
  const [asked, setAsked] = useState<ReservationRow>();
  const may = useMay()("reservation.release");
  const read = useRead("reservations", useQueryOf("reservations", ["state", "kind", "holder"]));
  const act = actColumn<ReservationRow>({
    verb: "Release",
    width: "6.5rem",
    may,
    applies: ({ state }) => state === "reserved",
    nameOf: ({ resource }) => resource,
    onAsk: setAsked,
  });
  return (
    <>
      <List
        tall
        label="Reservations"
        list={listOf(read, ({ items }) => items)}
        nouns={["reservation", "reservations"]}
        filters={filters}
        columns={[...columns, act]}
        keyOf={({ id }) => id}
        empty={[
          "Nothing is reserved.",
          "What code reserves until a decision appears here, with its holder and its end.",
        ]}
      />
      {asked && <Release row={asked} onClose={() => setAsked(undefined)} />}
    </>
  );
}

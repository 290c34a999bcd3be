import { useState } from "react";
import type { LeaseRow } from "../../../api/index.ts";
import { listOf, useAct, useRead } from "../../api/hooks.ts";
import { useMay } from "../../api/session.ts";
import { Badge, type Tone } from "../../furniture/badge.tsx";
import { Confirm } from "../../furniture/confirm.tsx";
import { Count } from "../../furniture/count.tsx";
import { List } from "../../furniture/list.tsx";
import type { Column } from "../../furniture/table.tsx";
import { Duration, Instant } from "../../furniture/time.tsx";
import { actColumn } from "./act-column.tsx";

const tones: Readonly<Record<LeaseRow["state"], Tone>> = {
  running: "active",
  expired: "warn",
  released: "idle",
  completed: "good",
};

const columns: readonly Column<LeaseRow>[] = [
  {
    key: "state",
    head: "State",
    width: "8.5rem",
    cell: ({ state }) => <Badge tone={tones[state]}>{state}</Badge>,
  },
  { key: "name", head: "Job", cell: ({ name }) => <strong>{name}</strong> },
  { key: "owner", head: "Owner", cell: ({ owner }) => owner },
  {
    key: "claimed",
    head: "Claimed",
    width: "10.5rem",
    wideOnly: true,
    cell: ({ claimedAtMs }) => <Instant ms={claimedAtMs} />,
  },
  {
    key: "left",
    head: "Left",
    width: "7rem",
    align: "right",
    cell: ({ state, expiresInMs }) => <Duration ms={state === "running" ? expiresInMs : null} />,
  },
  {
    key: "takeovers",
    head: "Taken over",
    width: "7rem",
    align: "right",
    wideOnly: true,
    cell: ({ takeovers }) => <Count value={takeovers} />,
  },
];

function Free({ row, onClose }: { readonly row: LeaseRow; readonly onClose: () => void }) {
  const free = useAct("lease.free");
  return (
    <Confirm
      danger
      title={`Take ${row.name} from ${row.owner}`}
      verb="Free it"
      onClose={onClose}
      run={async (reason) => {
        await free.mutateAsync({ name: row.name, reason });
        return "It is free; the next who claims it gets it.";
      }}
    >
      <p>
        {row.owner} learns of it at its next heartbeat, and what it writes as the owner is refused from now
        on.
      </p>
    </Confirm>
  );
}

export function Leases() {
  const [asked, setAsked] = useState<LeaseRow>();
  const may = useMay()("reservation.release");
  const read = useRead("leases", {});
  const act = actColumn<LeaseRow>({
    verb: "Free",
    width: "6rem",
    may,
    applies: ({ state }) => state === "running",
    nameOf: ({ name }) => name,
    onAsk: setAsked,
  });
  return (
    <>
      <List
        tall
        label="Leases"
        list={listOf(read, ({ items }) => items)}
        columns={[...columns, act]}
        keyOf={({ name }) => name}
        empty={[
          "Nobody holds a job.",
          "A job that one owner at a time works on appears here while it is held.",
        ]}
      />
      {asked && <Free row={asked} onClose={() => setAsked(undefined)} />}
    </>
  );
}

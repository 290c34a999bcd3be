// The backfills as code declares them, each with its latest run.
import { Link, useLocation } from "wouter";
import type { BackfillView } from "../../../api/index.ts";
import { listOf, type useRead } from "../../api/hooks.ts";
import { List } from "../../furniture/list.tsx";
import { Owner } from "../../furniture/owner.tsx";
import type { Column } from "../../furniture/table.tsx";
import { runColumns } from "./columns.tsx";
import { runHref, runsHref } from "./links.ts";

const columns: readonly Column<BackfillView>[] = [
  { key: "name", head: "Backfill", cell: ({ name }) => <strong>{name}</strong> },
  {
    key: "latest",
    head: "Latest run",
    width: "6.75rem",
    align: "right",
    cell: ({ latest }) =>
      latest === null ? (
        <span className="zero">none</span>
      ) : (
        <Link className="plain number" href={runHref(latest.id)}>
          {latest.id}
        </Link>
      ),
  },
  ...runColumns<BackfillView>(["state", "progress", "waits"], ({ latest }) => latest),
  { key: "owner", head: "Owner", width: "8.5rem", cell: ({ owner }) => <Owner owner={owner} /> },
];

export function Declared({ read }: { readonly read: ReturnType<typeof useRead<"backfills">> }) {
  const [, go] = useLocation();
  return (
    <List
      tall
      label="Backfills"
      list={listOf(read, (backfills) => backfills)}
      nouns={["backfill", "backfills"]}
      columns={columns}
      keyOf={({ name }) => name}
      onOpen={({ name, latest }) => go(latest === null ? runsHref(name) : runHref(latest.id))}
      empty={[
        "No backfill is declared.",
        <>
          Declare one with <code>backfill(…)</code>; it appears when its application starts.
        </>,
      ]}
    />
  );
}

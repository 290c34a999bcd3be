// Records in order: how fast they come, and how far behind whoever reads them is.
import { Link, useLocation } from "wouter";
import type { StreamSummary } from "../../../api/index.ts";
import { listOf, useRead } from "../../api/hooks.ts";
import { Count, Rate } from "../../furniture/count.tsx";
import { List } from "../../furniture/list.tsx";
import { Owner } from "../../furniture/owner.tsx";
import { Page } from "../../furniture/page.tsx";
import type { Column } from "../../furniture/table.tsx";
import { ageText } from "../../furniture/time.tsx";
import { useUrl } from "../../furniture/url.ts";
import { StandingBadge } from "./badges.tsx";
import { streamHref } from "./links.ts";

const columns: readonly Column<StreamSummary>[] = [
  {
    key: "name",
    head: "Stream",
    cell: ({ name }) => (
      <Link className="plain" href={streamHref(name)}>
        {name}
      </Link>
    ),
  },
  {
    key: "state",
    head: "State",
    width: "9.75rem",
    cell: ({ standing }) => <StandingBadge standing={standing} />,
  },
  {
    key: "lag",
    head: "Lag, oldest",
    width: "9rem",
    align: "right",
    cell: ({ lag, lagMs }) => (
      <>
        <Count value={lag} />
        {lagMs !== null && <span className="muted">, {ageText(lagMs)}</span>}
      </>
    ),
  },
  {
    key: "rate",
    head: "Records/s",
    width: "6.75rem",
    align: "right",
    wideOnly: true,
    cell: ({ perSecond }) => <Rate value={perSecond} />,
  },
  {
    key: "parked",
    head: "Parked",
    width: "5.25rem",
    align: "right",
    wideOnly: true,
    cell: ({ parked }) => <Count value={parked} />,
  },
  {
    key: "consumers",
    head: "Consumers",
    width: "7.25rem",
    align: "right",
    wideOnly: true,
    cell: ({ consumers }) => <Count value={consumers} />,
  },
  {
    key: "partitions",
    head: "Partitions",
    width: "6.75rem",
    roomOnly: true,
    align: "right",

    cell: ({ partitions }) => <Count value={partitions} />,
  },
  { key: "owner", head: "Owner", wideOnly: true, cell: ({ owner }) => <Owner owner={owner} /> },
];

export default function Streams() {
  const url = useUrl();
  const [, go] = useLocation();
  const all = listOf(useRead("streams", {}), (streams) => streams);
  const search = url.get("search") ?? "";
  return (
    <Page
      title="Streams"
      lead="Records in order, read by many: how fast they come, and how far behind the last of their readers is."
    >
      <List
        tall
        label="Streams"
        list={{ ...all, items: all.items.filter(({ name }) => name.includes(search)) }}
        nouns={["stream", "streams"]}
        filters={[{ kind: "search", name: "search", label: "Part of a name" }]}
        columns={columns}
        keyOf={({ name }) => name}
        onOpen={({ name }) => go(streamHref(name))}
        empty={[
          "No stream fits.",
          <>
            Declare one with <code>stream(…)</code>, and who reads it with <code>consumer(…)</code>.
          </>,
        ]}
      />
    </Page>
  );
}

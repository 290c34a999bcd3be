// Processes that stay: what is to run, and whether it does.
import { Link, useLocation } from "wouter";
import type { ServiceSummary } from "../../../api/index.ts";
import { listOf, useRead } from "../../api/hooks.ts";
import { Count } from "../../furniture/count.tsx";
import { List } from "../../furniture/list.tsx";
import { Page } from "../../furniture/page.tsx";
import type { Column } from "../../furniture/table.tsx";
import { useUrl } from "../../furniture/url.ts";
import { ServiceBadge } from "./badges.tsx";
import { serviceHref } from "./links.ts";

const columns: readonly Column<ServiceSummary>[] = [
  {
    key: "name",
    head: "Service",
    cell: ({ name }) => (
      <Link className="plain" href={serviceHref(name)}>
        {name}
      </Link>
    ),
  },
  { key: "state", head: "State", width: "9rem", cell: (service) => <ServiceBadge service={service} /> },
  {
    key: "healthy",
    head: "Healthy",
    width: "5.25rem",
    align: "right",
    cell: ({ healthy, desired }) => (
      <span className="number">
        {healthy} of {desired}
      </span>
    ),
  },
  {
    key: "running",
    head: "Running",
    width: "6rem",
    align: "right",
    wideOnly: true,
    cell: ({ running }) => <Count value={running} />,
  },
  { key: "kind", head: "Kind", width: "9rem", wideOnly: true, cell: ({ kind }) => kind },
  {
    key: "revision",
    head: "Revision",
    width: "5.5rem",
    align: "right",
    wideOnly: true,
    cell: ({ revision }) => <span className="number">{revision}</span>,
  },
  { key: "host", head: "Runs on", width: "14rem", wideOnly: true, cell: ({ host }) => host },
];

export default function Services() {
  const url = useUrl();
  const [, go] = useLocation();
  const all = listOf(useRead("services", {}), (services) => services);
  const search = url.get("search") ?? "";
  return (
    <Page title="Services" lead="Processes that stay: how many are to run, how many do, in which revision.">
      <List
        tall
        label="Services"
        list={{ ...all, items: all.items.filter(({ name }) => name.includes(search)) }}
        nouns={["service", "services"]}
        filters={[{ kind: "search", name: "search", label: "Part of a name" }]}
        columns={columns}
        keyOf={({ name }) => name}
        onOpen={({ name }) => go(serviceHref(name))}
        empty={[
          "No service fits.",
          <>
            Declare one with <code>service(…)</code>, then <code>tuntas service deploy NAME --app FILE</code>.
          </>,
        ]}
      />
    </Page>
  );
}

// Who did what to the service, and everything that happened to it.
import type { ServiceEvent } from "../../../api/index.ts";
import { listOf, useRead } from "../../api/hooks.ts";
import { Acts } from "../../furniture/acts.tsx";
import { List } from "../../furniture/list.tsx";
import type { Column } from "../../furniture/table.tsx";
import { Instant } from "../../furniture/time.tsx";

const number = (value: string | null) =>
  value === null ? <span className="zero">–</span> : <span className="number">{value}</span>;

const detailOf = ({ detail }: ServiceEvent): string =>
  Object.entries(detail)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(", ");

const eventColumns: readonly Column<ServiceEvent>[] = [
  { key: "at", head: "When", width: "10.5rem", cell: ({ atMs }) => <Instant ms={atMs} /> },
  { key: "event", head: "Event", width: "8rem", cell: ({ event }) => <strong>{event}</strong> },
  {
    key: "deployment",
    head: "Deployment",
    width: "7.5rem",
    align: "right",
    wideOnly: true,
    cell: ({ deploymentId }) => number(deploymentId),
  },
  {
    key: "instance",
    head: "Instance",
    width: "6rem",
    align: "right",
    wideOnly: true,
    cell: ({ instanceId }) => number(instanceId),
  },
  { key: "detail", head: "With", cell: detailOf },
];

export function Record({ service }: { readonly service: string }) {
  const events = listOf(useRead("service.log", { service }), ({ items }) => items);
  return (
    <>
      <Acts subject={`service ${service}`} />
      <section className="card" aria-label="Log">
        <header>
          <h2>Log</h2>
        </header>
        <List
          tall
          label="Events"
          list={events}
          columns={eventColumns}
          keyOf={({ id }) => id}
          empty={["Nothing has happened to it within thirty days."]}
        />
      </section>
    </>
  );
}

import type { LiveProcess } from "../../../api/index.ts";
import { listOf, useRead } from "../../api/hooks.ts";
import { List } from "../../furniture/list.tsx";
import { Page } from "../../furniture/page.tsx";
import type { Column } from "../../furniture/table.tsx";
import { Tabs, useTab } from "../../furniture/tabs.tsx";
import { Age, Instant } from "../../furniture/time.tsx";
import { HealthView } from "./health.tsx";
import { Panels } from "./panels.tsx";

const columns: readonly Column<LiveProcess>[] = [
  { key: "name", head: "Process", cell: ({ name }) => <strong>{name}</strong> },
  { key: "place", head: "Host and pid", width: "15rem", cell: ({ host, pid }) => `${host} · ${pid}` },
  { key: "version", head: "Node.js", width: "7rem", wideOnly: true, cell: ({ version }) => version },
  {
    key: "started",
    head: "Started",
    width: "11rem",
    wideOnly: true,
    cell: ({ startedAtMs }) => <Instant ms={startedAtMs} />,
  },
  {
    key: "heartbeat",
    head: "Last heartbeat",
    width: "9rem",
    align: "right",
    cell: ({ heartbeatAgeMs }) => <Age ms={heartbeatAgeMs} />,
  },
  {
    key: "queues",
    head: "Works on",
    wideOnly: true,
    cell: ({ queues }) => (queues.length > 0 ? queues.join(", ") : <span className="zero">no queue</span>),
  },
];

function Live() {
  const processes = useRead("processes", {});
  return (
    <List
      tall
      label="Processes"
      list={listOf(processes, (all) => all)}
      columns={columns}
      keyOf={({ id }) => id}
      empty={["Nothing lives on this database.", "The process that serves this page would be the first."]}
    />
  );
}

export default function Processes() {
  const view = useTab("view", ["live", "health", "panels"]);
  return (
    <Page
      title="Processes"
      lead="Everything that lives on this database. One that dies leaves this list within seconds, and gives back what it held."
    >
      <Tabs
        name="view"
        label="What to see"
        tabs={[
          ["live", "Live"],
          ["health", "Health"],
          ["panels", "API, workers, release"],
        ]}
      />
      {view === "live" ? <Live /> : view === "health" ? <HealthView /> : <Panels />}
    </Page>
  );
}

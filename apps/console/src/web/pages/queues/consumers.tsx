import type { QueueConsumer } from "../../../api/index.ts";
import { Count } from "../../furniture/count.tsx";
import { Empty } from "../../furniture/notice.tsx";
import { Table, type Column } from "../../furniture/table.tsx";
import { Age, Instant } from "../../furniture/time.tsx";

const columns: readonly Column<QueueConsumer>[] = [
  { key: "name", head: "Process", cell: ({ name }) => <strong>{name}</strong> },
  { key: "place", head: "Host and pid", cell: ({ host, pid }) => `${host} · ${pid}` },
  {
    key: "started",
    head: "Started",
    width: "11rem",
    wideOnly: true,
    cell: ({ startedAtMs }) => <Instant ms={startedAtMs} />,
  },
  {
    key: "heartbeat",
    head: "Heartbeat",
    width: "8rem",
    align: "right",
    wideOnly: true,
    cell: ({ heartbeatAgeMs }) => <Age ms={heartbeatAgeMs} />,
  },
  {
    key: "inFlight",
    head: "In flight",
    width: "6rem",
    align: "right",
    cell: ({ inFlight }) => <Count value={inFlight} />,
  },
  {
    key: "concurrency",
    head: "At once",
    width: "6rem",
    align: "right",
    cell: ({ concurrency }) => <Count value={concurrency} />,
  },
];

export function Consumers({ consumers }: { readonly consumers: readonly QueueConsumer[] }) {
  return (
    <section className="card" aria-label="Workers">
      <header>
        <h2>Workers</h2>
      </header>
      {consumers.length === 0 ? (
        <Empty title="No live process has a worker of this queue.">
          Only a client that receives over the wire would take its messages.
        </Empty>
      ) : (
        <Table label="Workers" rows={consumers} columns={columns} keyOf={({ processId }) => processId} />
      )}
    </section>
  );
}

// The processes of a service, each with what it takes of what it may.
import { useKept } from "../../furniture/kept.ts";
import { Empty } from "../../furniture/notice.tsx";
import { Table, type Column } from "../../furniture/table.tsx";
import { useUrl } from "../../furniture/url.ts";
import type { InstanceView, ServiceView } from "../../../api/index.ts";
import { InstanceBadge } from "./badges.tsx";
import { InstancePanel } from "./instance-panel.tsx";
import { mebibytes } from "./links.ts";

interface ShareProps {
  readonly label: string;
  readonly value: number | null;
  readonly limit: number;
  readonly text: (value: number) => string;
}

/** So much of a limit, as a bar and in figures. */
function Share({ label, value, limit, text }: ShareProps) {
  if (value === null) return <span className="zero">not yet</span>;
  return (
    <span className="share">
      <meter aria-label={label} max={limit} high={limit * 0.9} optimum={0} value={value} />
      <span className="number">{text(value)}</span>
    </span>
  );
}

const columnsOf = (limits: { memoryBytes: number; cpuUnits: number }): readonly Column<InstanceView>[] => [
  { key: "id", head: "Instance", width: "5.75rem", cell: ({ id }) => <strong>{id}</strong> },
  { key: "state", head: "State", width: "7.5rem", cell: (instance) => <InstanceBadge instance={instance} /> },
  {
    key: "revision",
    head: "Revision",
    width: "5.5rem",
    align: "right",
    wideOnly: true,
    cell: ({ revision }) => <span className="number">{revision}</span>,
  },
  {
    key: "pid",
    head: "Process",
    width: "5.5rem",
    align: "right",
    wideOnly: true,
    cell: ({ pid }) =>
      pid === null ? <span className="zero">–</span> : <span className="number">{pid}</span>,
  },
  {
    key: "memory",
    head: "Memory",
    width: "9.5rem",
    wideOnly: true,
    cell: ({ id, state, memoryBytes }) =>
      state === "running" ? (
        <Share
          label={`Memory of instance ${id}`}
          value={memoryBytes}
          limit={limits.memoryBytes}
          text={mebibytes}
        />
      ) : null,
  },
  {
    key: "cpu",
    head: "CPU",
    width: "8.75rem",
    wideOnly: true,
    cell: ({ id, state, cpuUnits }) =>
      state === "running" ? (
        <Share
          label={`CPU of instance ${id}`}
          value={cpuUnits}
          limit={limits.cpuUnits}
          text={(units) => `${units} units`}
        />
      ) : null,
  },
  {
    key: "ended",
    head: "Why it stopped",
    cell: ({ ended }) =>
      ended === null ? <span className="zero">–</span> : <span title={ended}>{ended}</span>,
  },
];

export function Instances({ view }: { readonly view: ServiceView }) {
  const url = useUrl();
  const { instances, current, controlled, host } = view;
  const { cpu, memory } = current.definition;
  const asked = url.get("instance");
  const selected = useKept(
    asked,
    instances.find(({ id }) => id === asked),
  );
  return (
    <section className="card" aria-label="Instances">
      <header>
        <h2>Instances</h2>
        <span className="muted">
          {cpu.request} to {cpu.limit} CPU units and {memory.request} to {memory.limit} MiB each; measured
          every ten seconds
        </span>
      </header>
      {instances.length === 0 ? (
        <Empty title="Nothing runs.">
          {controlled
            ? "Deploy a revision, or scale it."
            : `No process runs the services of ${host}: start tuntas service run there.`}
        </Empty>
      ) : (
        <Table
          label="Instances"
          rows={instances.toReversed()}
          columns={columnsOf({ memoryBytes: memory.limit * 2 ** 20, cpuUnits: cpu.limit })}
          keyOf={({ id }) => id}
          selected={selected?.id}
          onOpen={({ id }) => url.set({ instance: id }, "push")}
        />
      )}
      {selected && (
        <InstancePanel
          service={view.name}
          instance={selected}
          onClose={() => url.set({ instance: undefined })}
        />
      )}
    </section>
  );
}

// How far one consumer has read each partition, who reads it, and what it stands at.
import type { ConsumerPartition, ConsumerView, StreamView } from "../../../api/index.ts";
import { Cause } from "../../furniture/cause.tsx";
import { Count } from "../../furniture/count.tsx";
import { Table, type Column } from "../../furniture/table.tsx";
import { Age, durationText } from "../../furniture/time.tsx";
import { useUrl } from "../../furniture/url.ts";
import { PartitionBadge } from "./badges.tsx";
import { ConsumerActs } from "./consumer-acts.tsx";
import { PartitionPanel } from "./partition-panel.tsx";

const nothing = <span className="zero">–</span>;

/** Where it reads next, of where the next record goes. */
const Checkpoint = ({ at, of = at }: { readonly at: number; readonly of: number | undefined }) => (
  <span className="number">
    {at.toLocaleString("en")} <span className="muted">of {of.toLocaleString("en")}</span>
  </span>
);

const causes: readonly Column<ConsumerPartition>[] = [
  {
    key: "owner",
    head: "Read by",
    width: "11rem",
    roomOnly: true,

    cell: ({ owner }) => (owner === null ? nothing : <span title={owner}>{owner}</span>),
  },
  {
    key: "failures",
    head: "Failures",
    width: "5.25rem",
    align: "right",
    wideOnly: true,
    cell: ({ attempts }) => <Count value={attempts} />,
  },
  {
    key: "why",
    head: "Why",
    wideOnly: true,
    cell: ({ code, reason }) => <Cause code={code} reason={reason} />,
  },
];

const columnsOf = ({ offsets }: StreamView): readonly Column<ConsumerPartition>[] => [
  {
    key: "number",
    head: "Partition",
    width: "5.75rem",
    cell: ({ partition }) => <strong>{partition}</strong>,
  },
  {
    key: "state",
    head: "State",
    width: "9.5rem",
    cell: ({ standing }) => <PartitionBadge standing={standing} />,
  },
  {
    key: "checkpoint",
    head: "Checkpoint",
    width: "9rem",
    align: "right",
    cell: ({ partition, nextOffset }) => <Checkpoint at={nextOffset} of={offsets[partition]?.next} />,
  },
  { key: "lag", head: "Lag", width: "5rem", align: "right", cell: ({ lag }) => <Count value={lag} /> },
  {
    key: "age",
    head: "Oldest unread",
    width: "8rem",
    align: "right",
    wideOnly: true,
    cell: ({ lagMs }) => <Age ms={lagMs} />,
  },
  ...causes,
];

interface PartitionsProps {
  readonly view: StreamView;
  readonly consumer: ConsumerView;
}

export function Partitions({ view, consumer }: PartitionsProps) {
  const url = useUrl();
  const { name, onBadRecord, lagWithinMs, partitions } = consumer;
  const asked = url.get("partition");
  const selected = partitions.find(({ partition }) => String(partition) === asked);
  return (
    <section className="card" aria-label={`Partitions of ${name}`}>
      <header>
        <div>
          <h2>{name}, by partition</h2>
          <span className="muted">
            {onBadRecord === "park" ? "A bad record is parked" : "Stops at a bad record"}; may be{" "}
            {durationText(lagWithinMs)} behind
          </span>
        </div>
        <ConsumerActs view={view} consumer={consumer} />
      </header>
      <Table
        label={`Partitions of ${name}`}
        rows={partitions}
        columns={columnsOf(view)}
        keyOf={({ partition }) => String(partition)}
        selected={asked}
        onOpen={({ partition }) => url.set({ consumer: name, partition: String(partition) }, "push")}
      />
      {selected && (
        <PartitionPanel
          view={view}
          consumer={consumer}
          partition={selected}
          onClose={() => url.set({ partition: undefined })}
        />
      )}
    </section>
  );
}

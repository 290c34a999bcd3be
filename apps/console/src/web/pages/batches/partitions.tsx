// The partitions of a job, in the order of its plan.
import type { JobView, PartitionReport } from "../../../api/index.ts";
import { usePages } from "../../api/hooks.ts";
import { Cause } from "../../furniture/cause.tsx";
import { Count } from "../../furniture/count.tsx";
import { useQueryOf } from "../../furniture/filtered.ts";
import { useKept } from "../../furniture/kept.ts";
import { List } from "../../furniture/list.tsx";
import type { Column } from "../../furniture/table.tsx";
import { Duration, Instant } from "../../furniture/time.tsx";
import { useUrl } from "../../furniture/url.ts";
import { PartitionBadge } from "./badges.tsx";
import { PartitionPanel } from "./partition-panel.tsx";

const nothing = <span className="zero">–</span>;

const columns: readonly Column<PartitionReport>[] = [
  { key: "number", head: "Number", width: "6rem", cell: ({ number }) => <strong>{number}</strong> },
  { key: "key", head: "Key", cell: ({ key }) => <span title={key}>{key}</span> },
  { key: "state", head: "State", width: "7.5rem", cell: ({ state }) => <PartitionBadge state={state} /> },
  {
    key: "attempts",
    head: "Attempts",
    width: "6.5rem",
    align: "right",
    wideOnly: true,
    cell: ({ attempts }) => <Count value={attempts} />,
  },
  {
    key: "rows",
    head: "Rows",
    width: "6rem",
    align: "right",
    wideOnly: true,
    cell: ({ rows }) => (rows === null ? nothing : <Count value={rows} />),
  },
  {
    key: "began",
    head: "Began",
    width: "9.75rem",
    roomOnly: true,

    cell: ({ begunAtMs }) => <Instant ms={begunAtMs} />,
  },
  {
    key: "took",
    head: "Took",
    width: "6.5rem",
    align: "right",
    wideOnly: true,
    cell: ({ begunAtMs, endedAtMs }) => (
      <Duration ms={begunAtMs === null || endedAtMs === null ? null : endedAtMs - begunAtMs} />
    ),
  },
  {
    key: "why",
    head: "Why",
    wideOnly: true,
    cell: ({ failureCode, failureMessage }) => <Cause code={failureCode} reason={failureMessage} />,
  },
];

const states = [
  ["", "Every state"],
  ["failed", "Failed"],
  ["running", "Running"],
  ["pending", "Pending"],
  ["done", "Done"],
  ["cancelled", "Cancelled"],
] as const;

export function Partitions({ view }: { readonly view: JobView }) {
  const url = useUrl();
  const { state } = useQueryOf("batch.partitions", ["state"]);
  const list = usePages("batch.partitions", { id: view.id, ...(state && { state }) });
  const asked = url.get("partition");
  const selected = useKept(
    asked,
    list.items.find(({ number }) => String(number) === asked),
  );
  return (
    <>
      <List
        label="Partitions"
        list={list}
        nouns={["partition", "partitions"]}
        filters={[{ kind: "choice", name: "state", label: "State", choices: states }]}
        columns={columns}
        keyOf={({ number }) => String(number)}
        selected={asked}
        onOpen={({ number }) => url.set({ partition: String(number) }, "push")}
        empty={[
          "No partition fits.",
          view.planHash === null && "They are there once its plan was made and compared.",
        ]}
      />
      {selected && (
        <PartitionPanel view={view} partition={selected} onClose={() => url.set({ partition: undefined })} />
      )}
    </>
  );
}

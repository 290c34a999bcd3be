// The partitions of a run, and the records that failed.
import type { BackfillPartitionReport, BackfillRunView, FailedRecord } from "../../../api/index.ts";
import { listOf, useRead } from "../../api/hooks.ts";
import { Badge } from "../../furniture/badge.tsx";
import { Cause } from "../../furniture/cause.tsx";
import { Count } from "../../furniture/count.tsx";
import { List } from "../../furniture/list.tsx";
import { Progress } from "../../furniture/progress.tsx";
import type { Column } from "../../furniture/table.tsx";

interface Of {
  readonly view: BackfillRunView;
}

const partitionColumns: readonly Column<BackfillPartitionReport>[] = [
  { key: "number", head: "Number", width: "6rem", cell: ({ number }) => <strong>{number}</strong> },
  { key: "key", head: "Key", cell: ({ key }) => <span title={key}>{key}</span> },
  {
    key: "through",
    head: "State",
    width: "7.5rem",
    cell: ({ ended }) => (ended ? <Badge tone="good">through</Badge> : <Badge tone="idle">open</Badge>),
  },
  {
    key: "read",
    head: "Read",
    width: "14rem",
    cell: ({ key, read, records }) => (
      <Progress of={`partition ${key}`} done={Math.min(read, records)} total={records} />
    ),
  },
  {
    key: "records",
    head: "Records",
    width: "7rem",
    align: "right",
    wideOnly: true,
    cell: ({ records }) => <Count value={records} />,
  },
  {
    key: "checkpoint",
    head: "Checkpoint",
    wideOnly: true,
    cell: ({ checkpoint }) =>
      checkpoint === null ? <span className="zero">–</span> : <code>{checkpoint.join(" ")}</code>,
  },
];

export function Partitions({ view: { id } }: Of) {
  const read = useRead("backfill.partitions", { id });
  return (
    <List
      label="Partitions"
      list={listOf(read, (partitions) => partitions)}
      columns={partitionColumns}
      keyOf={({ number }) => String(number)}
      empty={["No partition is there.", "They are there once its plan was made and compared."]}
    />
  );
}

const failureColumns: readonly Column<FailedRecord>[] = [
  { key: "record", head: "Record", width: "14rem", cell: ({ record }) => <strong>{record}</strong> },
  { key: "why", head: "Why", cell: ({ code, message }) => <Cause code={code} reason={message} /> },
];

export function Failures({ view: { id, begunAtMs } }: Of) {
  const read = useRead("backfill.failures", { id });
  return (
    <List
      label="Failures"
      list={listOf(read, (failures) => failures)}
      columns={failureColumns}
      keyOf={({ record }) => record}
      empty={[
        "No record failed.",
        begunAtMs === null ? "Of its dry run: it has not begun yet." : "The first thousand would stand here.",
      ]}
    />
  );
}

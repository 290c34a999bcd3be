// The batches as code declares them, with how many jobs of each stand where.
import { useLocation } from "wouter";
import type { BatchReport, JobState } from "../../../api/index.ts";
import { listOf, type useRead } from "../../api/hooks.ts";
import { Count } from "../../furniture/count.tsx";
import { List } from "../../furniture/list.tsx";
import { Owner, Runbook } from "../../furniture/owner.tsx";
import type { Column } from "../../furniture/table.tsx";
import { batchHref } from "./links.ts";

const counted = (state: JobState, head: string): Column<BatchReport> => ({
  key: state,
  head,
  width: "6.75rem",
  align: "right",
  wideOnly: state !== "failed",
  cell: ({ jobs }) => <Count value={jobs[state] ?? 0} />,
});

const columns: readonly Column<BatchReport>[] = [
  { key: "name", head: "Batch", cell: ({ name }) => <strong>{name}</strong> },
  counted("running", "Running"),
  counted("waiting", "Waiting"),
  counted("failed", "Failed"),
  counted("completed", "Completed"),
  {
    key: "once",
    head: "At once",
    width: "5.25rem",
    align: "right",
    wideOnly: true,
    cell: ({ concurrency }) => <span className="number">{concurrency}</span>,
  },
  {
    key: "staging",
    head: "Staged in",
    wideOnly: true,
    cell: ({ staging }) => <code title={staging}>{staging}</code>,
  },
  { key: "owner", head: "Owner", width: "8.5rem", cell: ({ owner }) => <Owner owner={owner} /> },
  { key: "runbook", head: "Runbook", wideOnly: true, cell: ({ runbook }) => <Runbook runbook={runbook} /> },
];

export function Declared({ read }: { readonly read: ReturnType<typeof useRead<"batches">> }) {
  const [, go] = useLocation();
  return (
    <List
      tall
      label="Batches"
      list={listOf(read, (batches) => batches)}
      nouns={["batch", "batches"]}
      columns={columns}
      keyOf={({ name }) => name}
      onOpen={({ name }) => go(batchHref(name))}
      empty={[
        "No batch is declared.",
        <>
          Declare one with <code>batch(…)</code>; it appears when its application starts.
        </>,
      ]}
    />
  );
}

// Large jobs, done in partitions: what runs, what waits for its turn, and what became of the others.
import { useLocation, Link } from "wouter";
import type { BatchReport, JobReport } from "../../../api/index.ts";
import { usePages, useRead } from "../../api/hooks.ts";
import { rateText } from "../../furniture/count.tsx";
import { useQueryOf } from "../../furniture/filtered.ts";
import { List } from "../../furniture/list.tsx";
import { Page } from "../../furniture/page.tsx";
import { Progress } from "../../furniture/progress.tsx";
import type { Column } from "../../furniture/table.tsx";
import { Tabs, useTab } from "../../furniture/tabs.tsx";
import { durationText } from "../../furniture/time.tsx";
import { JobBadge } from "./badges.tsx";
import { Declared } from "./declared.tsx";
import { jobHref, keyText } from "./links.ts";

const nothing = <span className="zero">–</span>;

const columns: readonly Column<JobReport>[] = [
  {
    key: "job",
    head: "Job",
    width: "4.5rem",
    cell: ({ id }) => (
      <Link className="plain" href={jobHref(id)}>
        {id}
      </Link>
    ),
  },
  {
    key: "batch",
    head: "Batch",
    cell: (job) => (
      <span title={`${job.batch} ${job.key}`}>
        <strong>{job.batch}</strong> <span className="muted">{keyText(job)}</span>
      </span>
    ),
  },
  { key: "state", head: "State", width: "8.75rem", cell: ({ state }) => <JobBadge state={state} /> },
  {
    key: "progress",
    head: "Progress",
    width: "11.5rem",
    cell: ({ id, partitions: { done, total } }) =>
      total === 0 ? nothing : <Progress of={`job ${id}`} done={done} total={total} />,
  },
  {
    key: "failed",
    head: "Failed",
    width: "5.25rem",
    align: "right",
    wideOnly: true,
    cell: ({ partitions: { failed } }) => (failed === 0 ? nothing : failed.toLocaleString("en")),
  },
  {
    key: "rate",
    head: "A minute",
    width: "6.25rem",
    align: "right",
    wideOnly: true,
    cell: ({ perMinute }) => (perMinute === null ? nothing : rateText(perMinute)),
  },
  {
    key: "left",
    head: "Left",
    width: "7.25rem",
    align: "right",
    wideOnly: true,
    cell: ({ leftMs }) =>
      leftMs === null ? nothing : <span className="number">{durationText(leftMs)}</span>,
  },
  {
    key: "priority",
    head: "Priority",
    width: "5.75rem",
    roomOnly: true,
    align: "right",

    cell: ({ priority }) => <span className="number">{priority}</span>,
  },
];

const states = [
  ["", "Every state"],
  ["running", "Running"],
  ["waiting", "Wait for their turn"],
  ["failed", "Failed"],
  ["paused", "Paused"],
  ["planning", "Being planned"],
  ["promoting", "Being promoted"],
  ["completed", "Completed"],
  ["cancelled", "Cancelled"],
] as const;

function Jobs({ declared }: { readonly declared: readonly BatchReport[] }) {
  const [, go] = useLocation();
  const jobs = usePages("batch.jobs", useQueryOf("batch.jobs", ["batch", "state"]));
  const names = declared.map(({ name }) => [name, name] as const);
  return (
    <List
      tall
      label="Jobs"
      list={jobs}
      nouns={["job", "jobs"]}
      filters={[
        { kind: "choice", name: "batch", label: "Batch", choices: [["", "Every batch"], ...names] },
        { kind: "choice", name: "state", label: "State", choices: states },
      ]}
      columns={columns}
      keyOf={({ id }) => id}
      onOpen={({ id }) => go(jobHref(id))}
      empty={[
        "No job fits.",
        <>
          Start one with <code>tuntas batch start NAME</code>, a schedule, or <code>start</code> of the batch.
        </>,
      ]}
    />
  );
}

export default function Batches() {
  const tab = useTab("view", ["jobs", "declared"]);
  const read = useRead("batches", {});
  return (
    <Page
      title="Batches"
      lead="Large jobs, done in partitions: each partition once, and a result that is seen whole or not at all."
    >
      <Tabs
        name="view"
        label="Views of the batches"
        tabs={[
          ["jobs", "Jobs"],
          ["declared", "Batches"],
        ]}
      />
      {tab === "jobs" ? <Jobs declared={read.data?.value ?? []} /> : <Declared read={read} />}
    </Page>
  );
}

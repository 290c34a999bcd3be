// Tables that live on and are corrected under way: what is declared, which runs there are, and for whom they wait.
import { Link, useLocation } from "wouter";
import type { BackfillView, RunReport } from "../../../api/index.ts";
import { usePages, useRead } from "../../api/hooks.ts";
import { useQueryOf } from "../../furniture/filtered.ts";
import { List } from "../../furniture/list.tsx";
import { Page } from "../../furniture/page.tsx";
import type { Column } from "../../furniture/table.tsx";
import { Tabs, useTab } from "../../furniture/tabs.tsx";
import { runColumns } from "./columns.tsx";
import { Declared } from "./declared.tsx";
import { runHref } from "./links.ts";

const columns: readonly Column<RunReport>[] = [
  {
    key: "run",
    head: "Run",
    width: "4.5rem",
    cell: ({ id }) => (
      <Link className="plain" href={runHref(id)}>
        {id}
      </Link>
    ),
  },
  {
    key: "backfill",
    head: "Backfill",
    cell: ({ backfill, scope }) => (
      <span title={`${backfill} ${scope}`}>
        <strong>{backfill}</strong> <span className="muted">{scope}</span>
      </span>
    ),
  },
  ...runColumns<RunReport>(["state", "progress", "failed", "waits"], (run) => run),
];

const states = [
  ["", "Every state"],
  ["sampled", "Wait for an approval"],
  ["running", "Running"],
  ["paused", "Paused"],
  ["planned", "Planned"],
  ["approved", "Approved"],
  ["verifying", "Being verified"],
  ["completed", "Completed"],
  ["aborted", "Aborted"],
  ["rolling_back", "Being rolled back"],
  ["rolled_back", "Rolled back"],
] as const;

function Runs({ declared }: { readonly declared: readonly BackfillView[] }) {
  const [, go] = useLocation();
  const runs = usePages("backfill.runs", useQueryOf("backfill.runs", ["backfill", "state"]));
  const names = declared.map(({ name }) => [name, name] as const);
  return (
    <List
      tall
      label="Runs"
      list={runs}
      nouns={["run", "runs"]}
      filters={[
        {
          kind: "choice",
          name: "backfill",
          label: "Backfill",
          choices: [["", "Every backfill"], ...names],
        },
        { kind: "choice", name: "state", label: "State", choices: states },
      ]}
      columns={columns}
      keyOf={({ id }) => id}
      onOpen={({ id }) => go(runHref(id))}
      empty={[
        "No run fits.",
        <>
          Plan one with <code>tuntas backfill plan NAME --scope JSON</code>.
        </>,
      ]}
    />
  );
}

export default function Backfills() {
  const tab = useTab("view", ["declared", "runs"]);
  const read = useRead("backfills", {});
  return (
    <Page
      title="Backfills"
      lead="Tables that live on, corrected under way: tried out, approved by another person, and no faster than they bear."
    >
      <Tabs
        name="view"
        label="Views of the backfills"
        tabs={[
          ["declared", "Backfills"],
          ["runs", "Runs"],
        ]}
      />
      {tab === "declared" ? <Declared read={read} /> : <Runs declared={read.data?.value ?? []} />}
    </Page>
  );
}

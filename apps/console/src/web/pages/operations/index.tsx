// What people set in motion upon many things: who, why, how far, and the words that stop or hurry it.
import type { Operation } from "../../../api/index.ts";
import { listOf, useRead } from "../../api/hooks.ts";
import { useQueryOf } from "../../furniture/filtered.ts";
import { List } from "../../furniture/list.tsx";
import { Page } from "../../furniture/page.tsx";
import { Progress } from "../../furniture/progress.tsx";
import type { Column } from "../../furniture/table.tsx";
import { Instant } from "../../furniture/time.tsx";
import { useUrl } from "../../furniture/url.ts";
import { OperationPanel } from "./operation-panel.tsx";
import { StateBadge } from "./state-badge.tsx";

const columns: readonly Column<Operation>[] = [
  { key: "state", head: "State", width: "11rem", cell: ({ state }) => <StateBadge state={state} /> },
  { key: "kind", head: "Operation", width: "15rem", cell: ({ kind }) => <strong>{kind}</strong> },
  {
    key: "progress",
    head: "Progress",
    width: "11rem",
    cell: ({ kind, done, refused, skipped, selected }) => (
      <Progress of={kind} done={done + refused + skipped} total={selected} />
    ),
  },
  { key: "actor", head: "Who", width: "8rem", wideOnly: true, cell: ({ actor }) => actor },
  { key: "reason", head: "Why", wideOnly: true, cell: ({ reason }) => reason },
  {
    key: "asked",
    head: "Asked",
    width: "9.5rem",
    roomOnly: true,

    cell: ({ askedAtMs }) => <Instant ms={askedAtMs} />,
  },
];

const filters = [
  {
    kind: "choice",
    name: "state",
    label: "State",
    choices: [
      ["", "Every state"],
      ["awaiting_approval", "Wait for a second person"],
      ["running", "Running"],
      ["paused", "Paused"],
      ["failed", "Cannot go on"],
      ["completed", "Completed"],
      ["aborted", "Aborted"],
      ["declined", "Declined"],
    ],
  },
] as const;

export default function Operations() {
  const url = useUrl();
  const read = useRead("operations", useQueryOf("operations", ["state"]));
  const selected = url.get("operation");
  return (
    <Page
      title="Operations"
      lead="One-off acts upon many things: previewed, begun with who and why, and with an outcome for each."
    >
      <List
        tall
        label="Operations"
        list={listOf(read, ({ items }) => items)}
        nouns={["operation", "operations"]}
        filters={filters}
        columns={columns}
        keyOf={({ id }) => id}
        selected={selected}
        onOpen={({ id }) => url.set({ operation: id }, "push")}
        empty={[
          "No operation fits.",
          "Replays, redrives and purges of many things appear here, and runs of one-off commands.",
        ]}
      />
      {selected !== undefined && (
        <OperationPanel id={selected} onClose={() => url.set({ operation: undefined })} />
      )}
    </Page>
  );
}

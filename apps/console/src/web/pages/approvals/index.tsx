// The inbox: what asks for a decision, what is due first at the top. j and k walk, a approves, r rejects.
import { useState } from "react";
import type { ApprovalView } from "../../../api/index.ts";
import { listOf, useRead } from "../../api/hooks.ts";
import { Badge, type Tone } from "../../furniture/badge.tsx";
import { useQueryOf } from "../../furniture/filtered.ts";
import { List } from "../../furniture/list.tsx";
import { useKept } from "../../furniture/kept.ts";
import { useKeys } from "../../furniture/keys.ts";
import { Page } from "../../furniture/page.tsx";
import type { Column } from "../../furniture/table.tsx";
import { Age } from "../../furniture/time.tsx";
import { useUrl } from "../../furniture/url.ts";
import { ApprovalPanel } from "./approval-panel.tsx";
import { Decide, type Word } from "./decide.tsx";
import { Deadline } from "./deadline.tsx";

const tones: Readonly<Record<ApprovalView["status"], Tone>> = {
  pending: "active",
  approved: "good",
  rejected: "danger",
  expired: "warn",
  withdrawn: "idle",
};

function Status({ item: { status, overdue, waiting } }: { readonly item: ApprovalView }) {
  if (status === "pending" && !waiting) return <Badge tone="warn">too late</Badge>;
  return status === "pending" && overdue ? (
    <Badge tone="danger">overdue</Badge>
  ) : (
    <Badge tone={tones[status]}>{status}</Badge>
  );
}

const columns: readonly Column<ApprovalView>[] = [
  { key: "status", head: "Status", width: "7.5rem", cell: (item) => <Status item={item} /> },
  { key: "subject", head: "About", cell: ({ subject }) => <strong>{subject}</strong> },
  {
    key: "task",
    head: "Question",
    width: "13rem",
    wideOnly: true,
    cell: ({ task, workflow }) => `${task} · ${workflow}`,
  },
  { key: "by", head: "Asked by", width: "8rem", wideOnly: true, cell: ({ requestedBy }) => requestedBy },
  {
    key: "signatures",
    head: "Signed",
    width: "5rem",
    align: "right",
    wideOnly: true,
    cell: ({ signatures, signaturesNeeded }) => `${signatures.length} of ${signaturesNeeded}`,
  },
  {
    key: "age",
    head: "Age",
    width: "7rem",
    align: "right",
    wideOnly: true,
    cell: ({ ageMs }) => <Age ms={ageMs} />,
  },
  { key: "due", head: "Due", width: "9rem", align: "right", cell: (item) => <Deadline item={item} /> },
];

const filters = [
  {
    kind: "choice",
    name: "status",
    label: "Status",
    choices: [
      ["", "Pending"],
      ["approved", "Approved"],
      ["rejected", "Rejected"],
      ["expired", "Expired"],
      ["withdrawn", "Withdrawn"],
      ["any", "Every status"],
    ],
  },
  {
    kind: "choice",
    name: "mine",
    label: "Whose",
    choices: [
      ["", "Everybody's"],
      ["true", "Mine to sign"],
    ],
  },
  {
    kind: "choice",
    name: "overdue",
    label: "Deadline",
    choices: [
      ["", "Any deadline"],
      ["true", "Overdue"],
    ],
  },
] as const;

const focusedKey = (): string | undefined =>
  (document.activeElement as HTMLElement | null)?.closest<HTMLElement>("tr[data-key]")?.dataset.key;

export default function Approvals() {
  const url = useUrl();
  const read = useRead(
    "approvals",
    useQueryOf("approvals", ["status", "mine", "overdue", "workflow", "subject"]),
  );
  const list = listOf(read, ({ items }) => items);
  const chosen = url.get("approval");
  const find = (id: string | undefined) => list.items.find((item) => item.id === id);
  const selected = useKept(chosen, find(chosen));
  const [asked, setAsked] = useState<{ readonly item: ApprovalView; readonly word: Word }>();
  const ask = (word: "approve" | "reject"): void => {
    const item = selected ?? find(focusedKey());
    if (item?.status !== "pending") return;
    if (item.decidedHere) setAsked({ item, word });
    else url.set({ approval: item.id }, "push"); // which says where it can be decided
  };
  useKeys({ a: () => ask("approve"), r: () => ask("reject") });
  return (
    <Page
      title="Approvals"
      lead="Questions on which executions wait. Who asked cannot answer, and every answer says why."
    >
      <List
        tall
        label="Approvals"
        list={list}
        nouns={["request", "requests"]}
        filters={filters}
        columns={columns}
        keyOf={({ id }) => id}
        selected={chosen}
        onOpen={({ id }) => url.set({ approval: id }, "push")}
        empty={[
          "Nobody is asked for anything.",
          "A request appears when an execution comes to a task that asks people.",
        ]}
      />
      {selected && (
        <ApprovalPanel
          item={selected}
          onAsk={(word) => setAsked({ item: selected, word })}
          onClose={() => url.set({ approval: undefined })}
        />
      )}
      {asked && <Decide {...asked} onClose={() => setAsked(undefined)} />}
    </Page>
  );
}

// What is announced and not yet taken, by target; and the rows that nobody takes until a person has mended something.
import type { OutboxItem, OutboxStatus } from "../../../api/index.ts";
import { listOf, useRead, type Listed } from "../../api/hooks.ts";
import { Badge, type Tone } from "../../furniture/badge.tsx";
import { Count } from "../../furniture/count.tsx";
import { useQueryOf } from "../../furniture/filtered.ts";
import { List } from "../../furniture/list.tsx";
import { Owner } from "../../furniture/owner.tsx";
import { Page } from "../../furniture/page.tsx";
import { Table, type Column } from "../../furniture/table.tsx";
import { Age, ageText, Duration } from "../../furniture/time.tsx";
import { useKept } from "../../furniture/kept.ts";
import { useUrl } from "../../furniture/url.ts";
import { ItemPanel } from "./item-panel.tsx";

const textOf = ({ target }: { readonly target: OutboxItem["target"] }): string =>
  `${target.kind}:${target.name}`;

type TargetStatus = OutboxStatus["targets"][number];

const targetColumns: readonly Column<TargetStatus>[] = [
  { key: "target", head: "Target", cell: (status) => <strong>{textOf(status)}</strong> },
  { key: "owner", head: "Owner", width: "10rem", cell: ({ owner }) => <Owner owner={owner} /> },
  {
    key: "waiting",
    head: "Waiting",
    width: "7rem",
    align: "right",
    cell: ({ waiting }) => <Count value={waiting} />,
  },
  {
    key: "parked",
    head: "Parked",
    width: "7rem",
    align: "right",
    cell: ({ parked }) => <Count value={parked} />,
  },
  {
    key: "age",
    head: "Oldest",
    width: "8rem",
    align: "right",
    cell: ({ oldestAgeMs }) => <Age ms={oldestAgeMs} />,
  },
];

const tones: Readonly<Record<OutboxItem["state"], Tone>> = {
  waiting: "idle",
  claimed: "active",
  behind: "warn",
  parked: "danger",
};

const columns: readonly Column<OutboxItem>[] = [
  {
    key: "state",
    head: "State",
    width: "7rem",
    cell: ({ state }) => <Badge tone={tones[state]}>{state}</Badge>,
  },
  { key: "target", head: "Target", width: "8.5rem", cell: textOf },
  {
    key: "type",
    head: "Type",
    width: "8.5rem",
    roomOnly: true,

    cell: ({ type }) => type ?? <span className="zero">–</span>,
  },
  {
    key: "key",
    head: "Key",
    width: "8.5rem",
    wideOnly: true,
    cell: ({ key }) => key ?? <span className="zero">–</span>,
  },
  {
    key: "failure",
    head: "Last failure",
    cell: ({ failureMessage }) => failureMessage ?? <span className="zero">–</span>,
  },
  {
    key: "refusals",
    head: "Refused",
    width: "6rem",
    align: "right",
    wideOnly: true,
    cell: ({ refusals }) => <Count value={refusals} />,
  },
  {
    key: "due",
    head: "Next try",
    width: "7rem",
    align: "right",
    wideOnly: true,
    cell: ({ dueInMs }) => <Duration ms={dueInMs} />,
  },
  { key: "age", head: "Age", width: "7rem", align: "right", cell: ({ ageMs }) => <Age ms={ageMs} /> },
];

function OpenWriter({ ageMs }: { readonly ageMs: number | null }) {
  if (ageMs === null || ageMs < 60_000) return null;
  return (
    <div className="banner" role="alert">
      A transaction that wrote to the outbox has been open for {ageText(ageMs)}; what it announces cannot be
      seen yet.
    </div>
  );
}

const stateChoices = [
  ["", "Every state"],
  ["parked", "Parked"],
  ["waiting", "Waiting"],
  ["claimed", "On its way"],
  ["behind", "Behind another"],
] as const;

function Targets({ targets }: Pick<OutboxStatus, "targets">) {
  const url = useUrl();
  if (targets.length === 0) return null;
  return (
    <Table
      label="Targets"
      rows={targets}
      columns={targetColumns}
      keyOf={textOf}
      onOpen={(target) => url.set({ target: textOf(target) })}
    />
  );
}

function Items({ list, targets }: { readonly list: Listed<OutboxItem> } & Pick<OutboxStatus, "targets">) {
  const url = useUrl();
  const row = url.get("row");
  const selected = useKept(
    row,
    list.items.find(({ id }) => id === row),
  );
  const names = targets.map((each) => [textOf(each), textOf(each)] as const);
  return (
    <>
      <List
        tall
        label="Announcements"
        list={list}
        nouns={["announcement", "announcements"]}
        filters={[
          { kind: "choice", name: "target", label: "Target", choices: [["", "Every target"], ...names] },
          { kind: "choice", name: "state", label: "State", choices: stateChoices },
        ]}
        columns={columns}
        keyOf={({ id }) => id}
        selected={row}
        onOpen={({ id }) => url.set({ row: id }, "push")}
        empty={["Everything was taken.", "Nothing waits in the outbox, and nothing is parked."]}
      />
      {selected && <ItemPanel item={selected} onClose={() => url.set({ row: undefined })} />}
    </>
  );
}

export default function Outbox() {
  const status = useRead("outbox.status", {});
  const items = useRead("outbox.items", useQueryOf("outbox.items", ["target", "state"]));
  const targets = status.data?.value.targets ?? [];
  return (
    <Page
      title="Outbox"
      lead="What was written together with a change and is on its way to those who want to know."
    >
      <OpenWriter ageMs={status.data?.value.openWriterAgeMs ?? null} />
      <Targets targets={targets} />
      <Items list={listOf(items, (answer) => answer.items)} targets={targets} />
    </Page>
  );
}

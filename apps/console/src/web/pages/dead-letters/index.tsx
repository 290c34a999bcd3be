// What died or was quarantined, by cause: each group with its size, its age, whose it is and whether it may go again.
import type { DeadGroup } from "../../../api/index.ts";
import { listOf, useRead } from "../../api/hooks.ts";
import { Badge } from "../../furniture/badge.tsx";
import { Count, countText } from "../../furniture/count.tsx";
import { List } from "../../furniture/list.tsx";
import { Owner } from "../../furniture/owner.tsx";
import { Page } from "../../furniture/page.tsx";
import type { Column } from "../../furniture/table.tsx";
import { Instant } from "../../furniture/time.tsx";
import { useKept } from "../../furniture/kept.ts";
import { useUrl, type UrlState } from "../../furniture/url.ts";
import { GroupPanel } from "./group-panel.tsx";
import { keyOf, OutcomeBadge } from "./cause.tsx";
import { MessagePanel } from "../queues/message-panel.tsx";
import "./dead-letters.css";

const columns: readonly Column<DeadGroup>[] = [
  {
    key: "count",
    head: "Count",
    width: "4.75rem",
    align: "right",
    cell: ({ count }) => <Count value={count} />,
  },
  {
    key: "cause",
    head: "Cause",
    cell: ({ code, message }) => (
      <>
        <strong>{code}</strong> <span className="muted">{message}</span>
      </>
    ),
  },
  { key: "queue", head: "Died in", width: "9.75rem", cell: ({ queue, liesIn }) => queue ?? liesIn },
  {
    key: "outcome",
    head: "Outcome",
    width: "8rem",
    wideOnly: true,
    cell: (group) => <OutcomeBadge group={group} />,
  },
  {
    key: "last",
    head: "Last",
    width: "9.5rem",
    roomOnly: true,

    cell: ({ lastSeenAtMs }) => <Instant ms={lastSeenAtMs} />,
  },
  {
    key: "owner",
    head: "Owner",
    width: "8.5rem",
    wideOnly: true,
    cell: ({ owner }) => <Owner owner={owner === "none" ? null : owner} />,
  },
  {
    key: "replay",
    head: "Replay",
    width: "8.75rem",
    roomOnly: true,

    cell: ({ replayForbidden }) =>
      replayForbidden === null ? (
        <span className="muted">allowed</span>
      ) : (
        <Badge tone="danger">forbidden</Badge>
      ),
  },
];

const places = [
  ["", "Dead and quarantined"],
  ["dead", "Dead letters"],
  ["quarantined", "Quarantined"],
] as const;

/** The group that the address names: by its fingerprint, and by place, queue and version where it says these. */
function selectedOf(url: UrlState, groups: readonly DeadGroup[]): DeadGroup | undefined {
  const key = url.get("group");
  const fingerprint = url.get("fingerprint");
  if (key === undefined && fingerprint === undefined) return undefined;
  return groups.find((group) =>
    key === undefined ? group.fingerprint === fingerprint : keyOf(group) === key,
  );
}

const total = (groups: readonly DeadGroup[]): number => groups.reduce((sum, { count }) => sum + count, 0);

function useGroups(url: UrlState) {
  const queue = url.get("queue");
  const place = url.get("place") as DeadGroup["place"] | undefined;
  return useRead("dead.groups", { ...(queue && { queue }), ...(place && { place }) });
}

export default function DeadLetters() {
  const url = useUrl();
  const read = useGroups(url);
  const list = listOf(read, (answer) => answer.groups);
  const groups = list.items;
  const selected = useKept(url.get("group") ?? url.get("fingerprint"), selectedOf(url, groups));
  const message = url.get("message");
  const queues = [...new Set(groups.flatMap(({ queue }) => queue ?? []))].toSorted();
  const asked = url.get("queue");
  const known = asked === undefined || queues.includes(asked) ? queues : [asked, ...queues];
  const close = () => url.set({ group: undefined, fingerprint: undefined });
  return (
    <Page
      title="Dead letters"
      lead="What failed for good and waits for a person: see the cause, mend it, then replay it or end it with a reason."
    >
      <List
        tall
        label="Causes"
        list={list}
        filters={[
          {
            kind: "choice",
            name: "queue",
            label: "Queue",
            choices: [["", "Every queue"], ...known.map((name) => [name, name] as const)],
          },
          { kind: "choice", name: "place", label: "Place", choices: places },
        ]}
        tally={`${countText(total(groups))} messages, ${groups.length} causes`}
        columns={columns}
        keyOf={keyOf}
        selected={selected && keyOf(selected)}
        onOpen={(group) => url.set({ group: keyOf(group), fingerprint: undefined }, "push")}
        empty={[
          "Nothing died.",
          "Messages that failed for good appear here, grouped by what made them fail.",
        ]}
      />
      {message !== undefined ? (
        <MessagePanel id={message} onClose={() => url.set({ message: undefined })} />
      ) : (
        selected && <GroupPanel group={selected} onClose={close} />
      )}
    </Page>
  );
}

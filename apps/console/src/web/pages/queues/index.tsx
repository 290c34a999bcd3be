import { Link, useLocation } from "wouter";
import type { QueueSurvey } from "../../../api/index.ts";
import { usePages } from "../../api/hooks.ts";
import { List } from "../../furniture/list.tsx";
import { Page } from "../../furniture/page.tsx";
import { Count } from "../../furniture/count.tsx";
import type { Column } from "../../furniture/table.tsx";
import { Age } from "../../furniture/time.tsx";
import { useUrl } from "../../furniture/url.ts";
import { Owner } from "../../furniture/owner.tsx";
import { QueueBadge } from "./queue-badge.tsx";
import "./queues.css";
import { MessagePanel } from "./message-panel.tsx";

const hrefOf = ({ name }: QueueSurvey): string => `/queues/${encodeURIComponent(name)}`;

const columns: readonly Column<QueueSurvey>[] = [
  {
    key: "name",
    head: "Queue",
    cell: (queue) => (
      <Link className="plain" href={hrefOf(queue)}>
        {queue.name}
      </Link>
    ),
  },
  { key: "state", head: "State", width: "10rem", cell: (queue) => <QueueBadge queue={queue} /> },
  {
    key: "age",
    head: "Oldest",
    width: "6.5rem",
    align: "right",
    cell: (queue) => <Age ms={queue.oldestAgeMs} />,
  },
  {
    key: "ready",
    head: "Ready",
    width: "5rem",
    align: "right",
    cell: (queue) => <Count value={queue.ready} />,
  },
  {
    key: "in",
    head: "In flight",
    width: "5.25rem",
    align: "right",
    wideOnly: true,
    cell: (queue) => <Count value={queue.inFlight} />,
  },
  {
    key: "delayed",
    head: "Delayed",
    width: "5.25rem",
    roomOnly: true,
    align: "right",

    cell: (queue) => <Count value={queue.delayed} />,
  },
  {
    key: "dead",
    head: "Dead",
    width: "4.25rem",
    align: "right",
    wideOnly: true,
    cell: (queue) => <Count value={queue.dead + queue.quarantined} />,
  },
  {
    key: "workers",
    head: "Workers",
    width: "5.875rem",
    align: "right",
    wideOnly: true,
    cell: (queue) => <Count value={queue.consumers} />,
  },
  {
    key: "owner",
    head: "Owner",
    width: "9.25rem",
    wideOnly: true,
    cell: (queue) => <Owner owner={queue.owner} />,
  },
];

const choices = {
  owner: [
    ["", "Any owner"],
    ["none", "Without an owner"],
    ["some", "With an owner"],
  ],
  kind: [
    ["", "Every queue"],
    ["work", "Work queues"],
    ["dead", "Dead-letter queues"],
    ["paused", "Paused"],
  ],
} as const;

function fits(queue: QueueSurvey, owner: string | undefined, kind: string | undefined): boolean {
  if (owner === "none" && queue.owner !== null) return false;
  if (owner === "some" && queue.owner === null) return false;
  if (kind === "work") return !queue.isDeadLetterQueue;
  if (kind === "dead") return queue.isDeadLetterQueue;
  return kind !== "paused" || queue.pausedAtMs !== null;
}

export default function Queues() {
  const url = useUrl();
  const [, go] = useLocation();
  const message = url.get("message");
  const search = url.get("search");
  const queues = usePages("queues", search === undefined ? {} : { search });
  const fitting = queues.items.filter((queue) => fits(queue, url.get("owner"), url.get("kind")));
  return (
    <Page title="Queues" lead="What waits, what runs, who works on it.">
      <List
        tall
        label="Queues"
        list={{ ...queues, items: fitting }}
        nouns={["queue", "queues"]}
        filters={[
          { kind: "search", name: "search", label: "Part of a name" },
          { kind: "choice", name: "kind", label: "Kind", choices: choices.kind },
          { kind: "choice", name: "owner", label: "Owner", choices: choices.owner },
        ]}
        columns={columns}
        keyOf={(queue) => queue.name}
        onOpen={(queue) => go(hrefOf(queue))}
        empty={[
          "No queue fits.",
          "A queue appears when code declares it, or a client creates it over the wire.",
        ]}
      />
      {message !== undefined && <MessagePanel id={message} onClose={() => url.set({ message: undefined })} />}
    </Page>
  );
}

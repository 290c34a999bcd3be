// What people are told: every alarm with each thing that it watches, and its runbook with live values.
import type { AlarmReport } from "../../../api/index.ts";
import { listOf, useRead } from "../../api/hooks.ts";
import { List } from "../../furniture/list.tsx";
import { Owner } from "../../furniture/owner.tsx";
import { Page } from "../../furniture/page.tsx";
import type { Column } from "../../furniture/table.tsx";
import { Instant } from "../../furniture/time.tsx";
import { useUrl } from "../../furniture/url.ts";
import { AlarmBadge } from "./alarm-badge.tsx";
import { AlarmPanel } from "./alarm-panel.tsx";

const columns: readonly Column<AlarmReport>[] = [
  { key: "state", head: "State", width: "6.5rem", cell: ({ state }) => <AlarmBadge state={state} /> },
  { key: "name", head: "Alarm", width: "12rem", cell: ({ name }) => <strong>{name}</strong> },
  {
    key: "subject",
    head: "Watches",
    width: "12rem",
    cell: ({ subject }) => subject || <span className="zero">nothing yet</span>,
  },
  {
    key: "reason",
    head: "Why",
    wideOnly: true,
    cell: ({ reason }) => reason || <span className="zero">–</span>,
  },
  {
    key: "since",
    head: "Since",
    width: "9.5rem",
    roomOnly: true,

    cell: ({ sinceMs }) => <Instant ms={sinceMs} />,
  },
  { key: "severity", head: "Calls for", width: "6rem", roomOnly: true, cell: ({ severity }) => severity },
  {
    key: "owner",
    head: "Owner",
    width: "9.25rem",
    wideOnly: true,
    cell: ({ owner }) => <Owner owner={owner === "none" ? null : owner} />,
  },
];

const keyOf = ({ name, subject }: AlarmReport): string => `${name}|${subject}`;

const filters = [
  {
    kind: "choice",
    name: "state",
    label: "State",
    choices: [
      ["", "Every state"],
      ["ALARM", "In alarm"],
      ["INSUFFICIENT_DATA", "Without data"],
      ["OK", "OK"],
    ],
  },
  { kind: "search", name: "search", label: "Part of a name or of what it watches" },
] as const;

export default function Alarms() {
  const url = useUrl();
  const read = useRead("alarms", {}, { everyMs: 5000 });
  const [state, search = ""] = [url.get("state"), url.get("search")];
  const all = listOf(read, (alarms) => alarms);
  const rows = all.items.filter(
    (alarm) => (state === undefined || alarm.state === state) && keyOf(alarm).includes(search),
  );
  const selected = rows.find(
    ({ name, subject }) => name === url.get("alarm") && subject === (url.get("subject") ?? ""),
  );
  return (
    <Page
      title="Alarms"
      lead="What people are told, and what they do then. An alarm without owner and runbook does not compile."
    >
      <List
        tall
        label="Alarms"
        list={{ ...all, items: rows }}
        nouns={["alarm", "alarms"]}
        filters={filters}
        columns={columns}
        keyOf={keyOf}
        selected={selected && keyOf(selected)}
        onOpen={({ name, subject }) => url.set({ alarm: name, subject }, "push")}
        empty={["No alarm fits."]}
      />
      {selected && (
        <AlarmPanel alarm={selected} onClose={() => url.set({ alarm: undefined, subject: undefined })} />
      )}
    </Page>
  );
}

// What is due by the clock: when next, what became of it last, and whose it is.
import { Link, useLocation } from "wouter";
import type { ScheduleReport } from "../../../api/index.ts";
import { listOf, useRead } from "../../api/hooks.ts";
import { List } from "../../furniture/list.tsx";
import { Owner } from "../../furniture/owner.tsx";
import { Page } from "../../furniture/page.tsx";
import type { Column } from "../../furniture/table.tsx";
import { Instant } from "../../furniture/time.tsx";
import { useUrl } from "../../furniture/url.ts";
import { OccurrenceBadge, ScheduleBadge } from "./badges.tsx";
import { plainName, scheduleHref, targetHref, targetText } from "./links.ts";

const nothing = <span className="zero">–</span>;

const columns: readonly Column<ScheduleReport>[] = [
  {
    key: "name",
    head: "Schedule",
    cell: ({ name }) => (
      <Link className="plain" href={scheduleHref(name)}>
        {name}
      </Link>
    ),
  },
  {
    key: "state",
    head: "State",
    width: "7.5rem",
    cell: (schedule) => <ScheduleBadge schedule={schedule} />,
  },
  {
    key: "next",
    head: "Due next",
    width: "9.75rem",
    wideOnly: true,
    cell: ({ pausedAtMs, nextDueMs }) => (pausedAtMs === null ? <Instant ms={nextDueMs} /> : nothing),
  },
  {
    key: "last",
    head: "Due last",
    width: "9.75rem",
    wideOnly: true,
    cell: ({ last }) => <Instant ms={last?.dueMs ?? null} />,
  },
  {
    key: "outcome",
    head: "Outcome",
    width: "8.75rem",
    cell: ({ last }) => (last === null ? nothing : <OccurrenceBadge state={last.state} />),
  },
  {
    key: "target",
    head: "Starts",
    wideOnly: true,
    cell: ({ target }) => (
      <Link href={targetHref(target)} title={targetText(target)}>
        {plainName(target)}
      </Link>
    ),
  },
  {
    key: "owner",
    head: "Owner",
    wideOnly: true,
    cell: ({ owner }) => <Owner owner={owner} />,
  },
];

export default function Schedules() {
  const url = useUrl();
  const [, go] = useLocation();
  const all = listOf(useRead("schedules", {}), (schedules) => schedules);
  const search = url.get("search") ?? "";
  return (
    <Page
      title="Schedules"
      lead="What is due by the clock: when it was last and is next, and what became of it."
    >
      <List
        tall
        label="Schedules"
        list={{ ...all, items: all.items.filter(({ name }) => name.includes(search)) }}
        nouns={["schedule", "schedules"]}
        filters={[{ kind: "search", name: "search", label: "Part of a name" }]}
        columns={columns}
        keyOf={({ name }) => name}
        onOpen={({ name }) => go(scheduleHref(name))}
        empty={[
          "No schedule fits.",
          <>
            Declare one with <code>schedule(…)</code>, in the application that works for it.
          </>,
        ]}
      />
    </Page>
  );
}

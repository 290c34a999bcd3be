// What became of each due instant, the latest first.
import { Link } from "wouter";
import type { Occurrence, ScheduleView } from "../../../api/index.ts";
import { useKept } from "../../furniture/kept.ts";
import { Empty } from "../../furniture/notice.tsx";
import { Table, type Column } from "../../furniture/table.tsx";
import { Duration, Instant } from "../../furniture/time.tsx";
import { useUrl } from "../../furniture/url.ts";
import { OccurrenceBadge } from "./badges.tsx";
import { keyOf, workHref } from "./links.ts";
import { OccurrencePanel } from "./occurrence-panel.tsx";

const nothing = <span className="zero">–</span>;

function WorkLink({ occurrence }: { readonly occurrence: Occurrence }) {
  const href = workHref(occurrence);
  if (href === undefined) return nothing;
  return <Link href={href}>{occurrence.target.kind === "workflow" ? "Execution" : "Message"}</Link>;
}

const columns: readonly Column<Occurrence>[] = [
  { key: "due", head: "Due", width: "10rem", cell: ({ dueMs }) => <Instant ms={dueMs} /> },
  { key: "state", head: "State", width: "8.75rem", cell: ({ state }) => <OccurrenceBadge state={state} /> },
  {
    key: "run",
    head: "Run by",
    width: "7rem",
    wideOnly: true,
    cell: ({ actor }) => (actor === null ? <span className="muted">the clock</span> : actor),
  },
  {
    key: "began",
    head: "Began",
    width: "10rem",
    wideOnly: true,
    cell: ({ startedAtMs }) => <Instant ms={startedAtMs} />,
  },
  {
    key: "took",
    head: "Took",
    width: "7.75rem",
    align: "right",
    wideOnly: true,
    cell: ({ startedAtMs, endedAtMs }) => (
      <Duration ms={startedAtMs === null || endedAtMs === null ? null : endedAtMs - startedAtMs} />
    ),
  },
  {
    key: "work",
    head: "Work",
    width: "6.5rem",
    wideOnly: true,
    cell: (occurrence) => <WorkLink occurrence={occurrence} />,
  },
  {
    key: "why",
    head: "Why",
    cell: ({ reason }) => (reason === null ? nothing : <span title={reason}>{reason}</span>),
  },
];

export function Occurrences({ view }: { readonly view: ScheduleView }) {
  const url = useUrl();
  const asked = url.get("occurrence");
  const selected = useKept(
    asked,
    view.occurrences.find((each) => keyOf(each) === asked),
  );
  return (
    <section className="card" aria-label="Occurrences">
      <header>
        <h2>Occurrences</h2>
      </header>
      {view.occurrences.length === 0 ? (
        <Empty title="Nothing of it has been due yet." />
      ) : (
        <Table
          label="Occurrences"
          rows={view.occurrences}
          columns={columns}
          keyOf={keyOf}
          selected={asked}
          onOpen={(each) => url.set({ occurrence: keyOf(each) }, "push")}
        />
      )}
      {selected && (
        <OccurrencePanel
          view={view}
          occurrence={selected}
          onClose={() => url.set({ occurrence: undefined })}
        />
      )}
    </section>
  );
}

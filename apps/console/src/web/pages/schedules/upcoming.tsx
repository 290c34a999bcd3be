// When it is due next, in its zone too, and which local times a change of the clocks leaves out.
import type { ScheduleView, Upcoming } from "../../../api/index.ts";
import { Empty } from "../../furniture/notice.tsx";
import { Table, type Column } from "../../furniture/table.tsx";
import { durationText, Instant } from "../../furniture/time.tsx";
import { Zoned } from "./zoned.tsx";

const columnsOf = ({ timeZone, nowMs }: ScheduleView): readonly Column<Upcoming>[] => [
  { key: "due", head: "Due", width: "10.5rem", cell: ({ dueMs }) => <Instant ms={dueMs} /> },
  { key: "in", head: "In", width: "8rem", wideOnly: true, cell: ({ dueMs }) => durationText(dueMs - nowMs) },
  {
    key: "zone",
    head: `In ${timeZone}`,
    width: "14rem",
    cell: ({ dueMs }) => <Zoned ms={dueMs} timeZone={timeZone} />,
  },
  {
    key: "left-out",
    head: "Left out before it",
    wideOnly: true,
    cell: ({ leftOut }) =>
      leftOut.length === 0 ? <span className="zero">–</span> : `${leftOut.join(", ")}, by the clocks`,
  },
];

export function ToCome({ view }: { readonly view: ScheduleView }) {
  return (
    <section className="card" aria-label="To come">
      <header>
        <h2>To come</h2>
        {view.pausedAtMs !== null && <span className="muted">once it is resumed</span>}
      </header>
      {view.upcoming.length === 0 ? (
        <Empty title="Nothing of it is due any more." />
      ) : (
        <Table
          label="To come"
          rows={view.upcoming}
          columns={columnsOf(view)}
          keyOf={({ dueMs }) => String(dueMs)}
        />
      )}
    </section>
  );
}

// The history, event by event.
import type { RunEvent } from "../../../api/index.ts";
import { usePages } from "../../api/hooks.ts";
import { BodyText } from "../../furniture/body-text.tsx";
import { List } from "../../furniture/list.tsx";
import { Panel } from "../../furniture/panel.tsx";
import type { Column } from "../../furniture/table.tsx";
import { spanText, Instant } from "../../furniture/time.tsx";
import { useUrl } from "../../furniture/url.ts";

const columnsSince = (startedAtMs: number): readonly Column<RunEvent>[] => [
  {
    key: "id",
    head: "#",
    width: "4.5rem",
    align: "right",
    cell: ({ id }) => <span className="number">{id}</span>,
  },
  {
    key: "type",
    head: "Event",
    cell: ({ type }) => <strong>{type.replace(/(?<=[a-z])(?=[A-Z])/g, " ")}</strong>,
  },
  {
    key: "state",
    head: "State",
    width: "16rem",
    wideOnly: true,
    cell: ({ state }) => state ?? <span className="zero">–</span>,
  },
  {
    key: "since",
    head: "After",
    width: "7rem",
    align: "right",
    cell: ({ atMs }) => <span className="number">{spanText(atMs - startedAtMs)}</span>,
  },
  {
    key: "at",
    head: "At",
    width: "10rem",
    align: "right",
    wideOnly: true,
    cell: ({ atMs }) => <Instant ms={atMs} />,
  },
];

export interface EventsProps {
  readonly arn: string;
  readonly startedAtMs: number;
  readonly isRunning: boolean;
}

export default function Events({ arn, startedAtMs, isRunning }: EventsProps) {
  const url = useUrl();
  const events = usePages("run.events", { arn }, { everyMs: isRunning ? 2000 : false });
  const open = events.items.find(({ id }) => String(id) === url.get("event"));
  return (
    <>
      <List
        tall
        label="Events"
        list={events}
        columns={columnsSince(startedAtMs)}
        keyOf={({ id }) => String(id)}
        selected={open && String(open.id)}
        onOpen={({ id }) => url.set({ event: String(id) }, "push")}
        empty={["No event is kept.", "Express executions keep none; see what the log says."]}
      />
      {open && (
        <Panel label="Event" title={<h2>{open.type}</h2>} onClose={() => url.set({ event: undefined })}>
          <dl className="facts">
            <dt>State</dt>
            <dd>{open.state ?? "the execution itself"}</dd>
            <dt>At</dt>
            <dd>
              <Instant ms={open.atMs} />
            </dd>
            <dt>Follows</dt>
            <dd>event {open.previousEventId}</dd>
          </dl>
          <BodyText label="Details" text={open.details} />
        </Panel>
      )}
    </>
  );
}

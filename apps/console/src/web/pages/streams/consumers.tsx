// Who reads a stream, each with its partitions at a glance; and the partitions of the one that is chosen.
import type { ConsumerView, StreamView } from "../../../api/index.ts";
import { Mark } from "../../furniture/badge.tsx";
import { Count, Rate } from "../../furniture/count.tsx";
import { Empty } from "../../furniture/notice.tsx";
import { Table, type Column } from "../../furniture/table.tsx";
import { Age } from "../../furniture/time.tsx";
import { useUrl } from "../../furniture/url.ts";
import { partitionTones, StandingBadge } from "./badges.tsx";
import { Partitions } from "./partitions.tsx";

/** More than these do not fit side by side; the table below has them all. */
const marksMax = 32;

/** A mark a partition, in their order. */
function Line({ consumer: { partitions } }: { readonly consumer: ConsumerView }) {
  const ill = partitions.filter(
    ({ standing }) => partitionTones[standing] !== "good" && standing !== "reading",
  );
  const text = ill.map(({ partition, standing }) => `${partition} ${standing}`).join(", ");
  return (
    <span
      className="partition-line"
      role="img"
      aria-label={text === "" ? "all in order" : `Partitions: ${text}`}
    >
      {partitions.slice(0, marksMax).map(({ partition, standing }) => (
        <i key={partition} data-tone={partitionTones[standing]} title={`partition ${partition}: ${standing}`}>
          <Mark tone={partitionTones[standing]} />
        </i>
      ))}
      {partitions.length > marksMax && "…"}
    </span>
  );
}

const columns: readonly Column<ConsumerView>[] = [
  { key: "name", head: "Consumer", cell: ({ name }) => <strong>{name}</strong> },
  {
    key: "state",
    head: "State",
    width: "9.5rem",
    cell: ({ standing }) => <StandingBadge standing={standing} />,
  },
  {
    key: "partitions",
    head: "Partitions",
    wideOnly: true,
    cell: (consumer) => <Line consumer={consumer} />,
  },
  { key: "lag", head: "Lag", width: "5.75rem", align: "right", cell: ({ lag }) => <Count value={lag} /> },
  {
    key: "age",
    head: "Oldest unread",
    width: "8rem",
    align: "right",
    wideOnly: true,
    cell: ({ lagMs }) => <Age ms={lagMs} />,
  },
  {
    key: "rate",
    head: "Records/s",
    width: "6.75rem",
    align: "right",
    wideOnly: true,
    cell: ({ perSecond }) => <Rate value={perSecond} />,
  },
  {
    key: "parked",
    head: "Parked",
    width: "5.25rem",
    align: "right",
    wideOnly: true,
    cell: ({ parked }) => <Count value={parked} />,
  },
  {
    key: "members",
    head: "Processes",
    width: "6.75rem",
    align: "right",
    wideOnly: true,
    cell: ({ members }) => <Count value={members} />,
  },
];

/** The consumer that the address names; else the one that stands worst. */
export function useConsumer({ readers }: StreamView): ConsumerView | undefined {
  const asked = useUrl().get("consumer");
  return readers.find(({ name }) => name === asked) ?? readers[0];
}

export function Consumers({ view }: { readonly view: StreamView }) {
  const url = useUrl();
  const chosen = useConsumer(view);
  return (
    <>
      <section className="card" aria-label="Consumers">
        <header>
          <h2>Consumers</h2>
        </header>
        {view.readers.length === 0 ? (
          <Empty title="Nobody reads it.">
            Declare who does with <code>consumer(…)</code>: each reads all of it, from a checkpoint of its
            own.
          </Empty>
        ) : (
          <Table
            label="Consumers"
            rows={view.readers}
            columns={columns}
            keyOf={({ name }) => name}
            selected={chosen?.name}
            onOpen={({ name }) => url.set({ consumer: name, partition: undefined }, "push")}
          />
        )}
      </section>
      {chosen && <Partitions view={view} consumer={chosen} />}
    </>
  );
}

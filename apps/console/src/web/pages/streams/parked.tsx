// Records that consumers have gone past without handling them, the latest first, each with its cause.
import type { Parked, StreamView } from "../../../api/index.ts";
import { usePages } from "../../api/hooks.ts";
import { Cause } from "../../furniture/cause.tsx";
import { useQueryOf } from "../../furniture/filtered.ts";
import { useKept } from "../../furniture/kept.ts";
import { List } from "../../furniture/list.tsx";
import type { Column } from "../../furniture/table.tsx";
import { Instant } from "../../furniture/time.tsx";
import { useUrl } from "../../furniture/url.ts";
import { ParkedBadge } from "./badges.tsx";
import { AllParked } from "./parked-acts.tsx";
import { ParkedPanel } from "./parked-panel.tsx";

const columns: readonly Column<Parked>[] = [
  {
    key: "cause",
    head: "Cause",
    cell: ({ code, reason }) => <Cause code={code} reason={reason} />,
  },
  { key: "key", head: "Key", width: "9rem", cell: ({ key }) => <span title={key}>{key}</span> },
  {
    key: "state",
    head: "State",
    width: "7.5rem",
    cell: (record) => <ParkedBadge record={record} />,
  },
  { key: "consumer", head: "Consumer", width: "10rem", wideOnly: true, cell: ({ consumer }) => consumer },
  {
    key: "place",
    head: "Partition, offset",
    width: "10rem",
    align: "right",
    wideOnly: true,
    cell: ({ partition, offset }) => (
      <span className="number">
        {partition}, {offset}
      </span>
    ),
  },
  {
    key: "parked",
    head: "Parked",
    width: "10rem",
    wideOnly: true,
    cell: ({ parkedAtMs }) => <Instant ms={parkedAtMs} />,
  },
];

export function ParkedRecords({ view }: { readonly view: StreamView }) {
  const url = useUrl();
  const { consumer } = useQueryOf("stream.parked", ["consumer"]);
  const list = usePages("stream.parked", { stream: view.name, ...(consumer && { consumer }) });
  const asked = url.get("record");
  const selected = useKept(
    asked,
    list.items.find(({ id }) => id === asked),
  );
  const parking = view.readers.filter(({ parked, name }) => parked > 0 && (consumer ?? name) === name);
  return (
    <>
      {parking.length === 1 && <AllParked consumer={parking[0]!} />}
      <List
        label="Parked records"
        list={list}
        nouns={["record", "records"]}
        filters={[
          {
            kind: "choice",
            name: "consumer",
            label: "Consumer",
            choices: [["", "Every consumer"], ...view.readers.map(({ name }) => [name, name] as const)],
          },
        ]}
        columns={columns}
        keyOf={({ id }) => id}
        selected={asked}
        onOpen={({ id }) => url.set({ record: id }, "push")}
        empty={[
          "Nothing is parked.",
          "A record that a consumer cannot handle after its tries appears here, where the consumer parks such.",
        ]}
      />
      {selected && <ParkedPanel record={selected} onClose={() => url.set({ record: undefined })} />}
    </>
  );
}

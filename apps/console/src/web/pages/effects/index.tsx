// Calls to the outside, and what became of them. One that nobody knows the end of is never made again blindly.
import type { EffectRow } from "../../../api/index.ts";
import { listOf, useRead } from "../../api/hooks.ts";
import { Badge } from "../../furniture/badge.tsx";
import { Count } from "../../furniture/count.tsx";
import { useQueryOf } from "../../furniture/filtered.ts";
import { List } from "../../furniture/list.tsx";
import { Page } from "../../furniture/page.tsx";
import type { Column } from "../../furniture/table.tsx";
import { Tabs, useTab } from "../../furniture/tabs.tsx";
import { Age } from "../../furniture/time.tsx";
import { useUrl } from "../../furniture/url.ts";
import { Discrepancies } from "./discrepancies.tsx";
import { EffectPanel } from "./effect-panel.tsx";
import { tones } from "./tones.ts";

const columns: readonly Column<EffectRow>[] = [
  {
    key: "state",
    head: "State",
    width: "9.5rem",
    cell: ({ state }) => <Badge tone={tones[state]}>{state}</Badge>,
  },
  {
    key: "provider",
    head: "Provider",
    width: "10rem",
    cell: ({ provider, operation }) => `${provider} ${operation}`,
  },
  { key: "key", head: "Key", cell: ({ key }) => <code>{key}</code> },
  {
    key: "subject",
    head: "Of",
    wideOnly: true,
    cell: ({ subject, caller }) => subject ?? caller ?? <span className="zero">–</span>,
  },
  {
    key: "failure",
    head: "Last failure",
    wideOnly: true,
    cell: ({ failureMessage }) => failureMessage ?? <span className="zero">–</span>,
  },
  {
    key: "calls",
    head: "Calls",
    width: "5rem",
    align: "right",
    wideOnly: true,
    cell: ({ calls }) => <Count value={calls} />,
  },
  {
    key: "age",
    head: "Called",
    width: "7.5rem",
    align: "right",
    cell: ({ calledAgoMs }) => <Age ms={calledAgoMs} />,
  },
];

const filters = [
  {
    kind: "choice",
    name: "state",
    label: "State",
    choices: [
      ["", "Every state"],
      ["unknown", "Unknown"],
      ["pending", "Pending"],
      ["failed", "Failed"],
      ["succeeded", "Succeeded"],
    ],
  },
  { kind: "search", name: "provider", label: "Provider" },
  { kind: "search", name: "work", label: "Subject, message or execution" },
] as const;

function Effects() {
  const url = useUrl();
  const effects = useRead("effects", useQueryOf("effects", ["state", "provider", "work"]));
  const selected = url.get("effect");
  return (
    <>
      <List
        tall
        label="Side effects"
        list={listOf(effects, ({ items }) => items)}
        nouns={["call", "calls"]}
        filters={filters}
        columns={columns}
        keyOf={({ id }) => id}
        selected={selected}
        onOpen={({ id }) => url.set({ effect: id }, "push")}
        empty={["No call fits.", "Calls to the outside appear here when code makes them through the ledger."]}
      />
      {selected !== undefined && <EffectPanel id={selected} onClose={() => url.set({ effect: undefined })} />}
    </>
  );
}

export default function SideEffects() {
  const view = useTab("view", ["effects", "discrepancies"]);
  return (
    <Page title="Side effects" lead="Calls to the outside, each on record before it was made.">
      <Tabs
        name="view"
        label="What to see"
        tabs={[
          ["effects", "Calls"],
          ["discrepancies", "Discrepancies"],
        ]}
      />
      {view === "effects" ? <Effects /> : <Discrepancies />}
    </Page>
  );
}

// Who did what to which thing, and why.
import type { AuditRecord } from "../../../api/index.ts";
import { usePages } from "../../api/hooks.ts";
import { BodyText } from "../../furniture/body-text.tsx";
import { useQueryOf } from "../../furniture/filtered.ts";
import { List } from "../../furniture/list.tsx";
import { Page } from "../../furniture/page.tsx";
import { Panel } from "../../furniture/panel.tsx";
import type { Column } from "../../furniture/table.tsx";
import { Instant } from "../../furniture/time.tsx";
import { useUrl } from "../../furniture/url.ts";

const columns: readonly Column<AuditRecord>[] = [
  { key: "at", head: "When", width: "11rem", cell: ({ atMs }) => <Instant ms={atMs} /> },
  { key: "actor", head: "Who", width: "9rem", cell: ({ actor }) => <strong>{actor}</strong> },
  { key: "action", head: "Did", width: "13rem", cell: ({ action }) => <code>{action}</code> },
  { key: "subject", head: "To", width: "16rem", wideOnly: true, cell: ({ subject }) => subject },
  { key: "reason", head: "Why", cell: ({ reason }) => reason || <span className="zero">–</span> },
];

function Details({ row, onClose }: { readonly row: AuditRecord; readonly onClose: () => void }) {
  const { atMs, actor, action, subject, reason, details } = row;
  return (
    <Panel label="Act" title={<h2>{action}</h2>} onClose={onClose}>
      <dl className="facts">
        <dt>When</dt>
        <dd>
          <Instant ms={atMs} />
        </dd>
        <dt>Who</dt>
        <dd>{actor}</dd>
        <dt>To</dt>
        <dd>{subject}</dd>
        <dt>Why</dt>
        <dd>{reason || "nobody said"}</dd>
      </dl>
      <BodyText label="Details" text={details} />
    </Panel>
  );
}

const filters = [
  { kind: "search", name: "search", label: "Who, what, to what, why" },
  { kind: "search", name: "actor", label: "Who, exactly" },
] as const;

export default function Audit() {
  const url = useUrl();
  const acts = usePages("audit", useQueryOf("audit", ["search", "actor", "action", "subject"]));
  const selected = acts.items.find(({ id }) => id === url.get("act"));
  return (
    <Page
      title="Audit"
      lead="Every act of a person: who, what, to which thing, and why. Nothing is ever taken away from it here."
    >
      <List
        tall
        label="Acts"
        list={acts}
        nouns={["act", "acts"]}
        filters={filters}
        columns={columns}
        keyOf={({ id }) => id}
        selected={selected?.id}
        onOpen={({ id }) => url.set({ act: id }, "push")}
        empty={["Nobody did anything that fits."]}
      />
      {selected && <Details row={selected} onClose={() => url.set({ act: undefined })} />}
    </Page>
  );
}

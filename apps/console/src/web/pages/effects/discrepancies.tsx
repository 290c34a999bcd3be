import { useState } from "react";
import type { Discrepancy } from "../../../api/index.ts";
import { listOf, useAct, useRead } from "../../api/hooks.ts";
import { useMay } from "../../api/session.ts";
import { Badge } from "../../furniture/badge.tsx";
import { BodyText } from "../../furniture/body-text.tsx";
import { Confirm } from "../../furniture/confirm.tsx";
import { useQueryOf } from "../../furniture/filtered.ts";
import { List } from "../../furniture/list.tsx";
import { useKept } from "../../furniture/kept.ts";
import { Panel } from "../../furniture/panel.tsx";
import type { Column } from "../../furniture/table.tsx";
import { useUrl } from "../../furniture/url.ts";

const columns: readonly Column<Discrepancy>[] = [
  {
    key: "state",
    head: "State",
    width: "8rem",
    cell: ({ state }) => <Badge tone={state === "approved" ? "active" : "warn"}>{state}</Badge>,
  },
  { key: "name", head: "Reconciliation", width: "14rem", cell: ({ name }) => name },
  { key: "key", head: "Key", width: "12rem", cell: ({ key }) => <code>{key}</code> },
  {
    key: "source",
    head: "The truth says",
    wideOnly: true,
    cell: ({ source }) => source ?? <span className="zero">nothing</span>,
  },
  {
    key: "derived",
    head: "What follows says",
    wideOnly: true,
    cell: ({ derived }) => derived ?? <span className="zero">nothing</span>,
  },
];

interface Asked {
  readonly row: Discrepancy;
  readonly decision: "approve" | "dismiss";
}

function Decide({ row, decision, onClose }: Asked & { readonly onClose: () => void }) {
  const decide = useAct("discrepancy.decide");
  const approves = decision === "approve";
  return (
    <Confirm
      title={approves ? `Approve the repair of ${row.key}` : `Let ${row.key} be`}
      verb={approves ? "Approve" : "Dismiss"}
      onClose={onClose}
      run={async (reason) => {
        await decide.mutateAsync({ id: row.id, decision, reason });
        return approves ? "Approved; the next run repairs it." : "Dismissed.";
      }}
    >
      <p>{row.invariant}</p>
    </Confirm>
  );
}

function Details({ row, onClose }: { readonly row: Discrepancy; readonly onClose: () => void }) {
  const [decision, setDecision] = useState<Asked["decision"]>();
  const may = useMay()("discrepancy.decide");
  return (
    <Panel label="Discrepancy" title={<h2>{row.name}</h2>} onClose={onClose}>
      <p>{row.invariant}</p>
      <div className="row">
        <button
          type="button"
          className="button"
          data-kind="primary"
          disabled={!may || row.state !== "open"}
          onClick={() => setDecision("approve")}
        >
          Approve the repair
        </button>
        <button type="button" className="button" disabled={!may} onClick={() => setDecision("dismiss")}>
          Dismiss
        </button>
      </div>
      <BodyText label="The truth says" text={row.source ?? "nothing"} />
      <BodyText label="What follows from it says" text={row.derived ?? "nothing"} />
      {decision && <Decide row={row} decision={decision} onClose={() => setDecision(undefined)} />}
    </Panel>
  );
}

export function Discrepancies() {
  const url = useUrl();
  const list = listOf(useRead("discrepancies", useQueryOf("discrepancies", ["name"])), ({ items }) => items);
  const chosen = url.get("discrepancy");
  const selected = useKept(
    chosen,
    list.items.find(({ id }) => id === chosen),
  );
  return (
    <>
      <List
        tall
        label="Discrepancies"
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        selected={selected?.id}
        onOpen={({ id }) => url.set({ discrepancy: id }, "push")}
        empty={["Everything agrees.", "No reconciliation has found a difference that stands."]}
      />
      {selected && <Details row={selected} onClose={() => url.set({ discrepancy: undefined })} />}
    </>
  );
}

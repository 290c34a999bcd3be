import { useState } from "react";
import type { DeadGroup, DeadItem } from "../../../api/index.ts";
import { usePages } from "../../api/hooks.ts";
import { useMay } from "../../api/session.ts";
import { BodyText } from "../../furniture/body-text.tsx";
import { countText } from "../../furniture/count.tsx";
import { List } from "../../furniture/list.tsx";
import { Owner, Runbook } from "../../furniture/owner.tsx";
import { Panel } from "../../furniture/panel.tsx";
import type { Column } from "../../furniture/table.tsx";
import { Instant } from "../../furniture/time.tsx";
import { useUrl } from "../../furniture/url.ts";
import { filterOf, OutcomeBadge } from "./cause.tsx";
import { Reject } from "./reject.tsx";
import { Replay } from "./replay.tsx";

function Facts({ group }: { readonly group: DeadGroup }) {
  return (
    <dl className="facts">
      <dt>What it said</dt>
      <dd>{group.message}</dd>
      <dt>Died in</dt>
      <dd>{group.queue ?? "a queue that is deleted"}</dd>
      <dt>Lies in</dt>
      <dd>{group.place === "quarantined" ? "quarantine" : group.liesIn}</dd>
      <dt>First, last</dt>
      <dd>
        <Instant ms={group.firstSeenAtMs} />, <Instant ms={group.lastSeenAtMs} />
      </dd>
      <dt>Received</dt>
      <dd>at most {group.receivesMax} times</dd>
      <dt>Version</dt>
      <dd>{group.schemaVersion ?? <span className="zero">none</span>}</dd>
      <dt>Owner</dt>
      <dd>
        <Owner owner={group.owner === "none" ? null : group.owner} />
      </dd>
      <dt>Runbook</dt>
      <dd>
        <Runbook runbook={group.runbook} />
      </dd>
    </dl>
  );
}

const columns: readonly Column<DeadItem>[] = [
  { key: "id", head: "Message", cell: ({ messageId }) => <code>{messageId}</code> },
  { key: "seen", head: "Failed", width: "10.5rem", cell: ({ seenAtMs }) => <Instant ms={seenAtMs} /> },
];

function Items({ group }: { readonly group: DeadGroup }) {
  const url = useUrl();
  const { messageIds: _messageIds, ...filter } = filterOf(group);
  const items = usePages("dead.items", filter, { everyMs: 5000 });
  return (
    <section className="stack">
      <h3>{countText(group.count)} messages</h3>
      <List
        label="Messages of this cause"
        list={items}
        columns={columns}
        keyOf={({ id }) => id}
        onOpen={({ messageId }) => url.set({ message: messageId }, "push")}
        empty={["None is left."]}
      />
    </section>
  );
}

function Acts({ group }: { readonly group: DeadGroup }) {
  const [asked, setAsked] = useState<"replay" | "reject">();
  const may = useMay();
  const { replayForbidden } = group;
  const close = () => setAsked(undefined);
  return (
    <section className="stack">
      <div className="row">
        <button
          type="button"
          className="button"
          data-kind="primary"
          disabled={!may("dlq.replay") || replayForbidden !== null}
          onClick={() => setAsked("replay")}
        >
          Replay
        </button>
        <button
          type="button"
          className="button"
          disabled={!may("dlq.reject")}
          onClick={() => setAsked("reject")}
        >
          Reject
        </button>
      </div>
      {replayForbidden !== null && (
        <p className="forbidden">Replay is forbidden by a rule of the queue: {replayForbidden}.</p>
      )}
      {asked === "replay" && <Replay group={group} onClose={close} />}
      {asked === "reject" && <Reject group={group} onClose={close} />}
    </section>
  );
}

export function GroupPanel({ group, onClose }: { readonly group: DeadGroup; readonly onClose: () => void }) {
  return (
    <Panel
      label="Cause"
      onClose={onClose}
      title={
        <>
          <h2>{group.code}</h2>
          <OutcomeBadge group={group} />
        </>
      }
    >
      <Acts group={group} />
      <Facts group={group} />
      <section className="stack">
        <h3>The oldest says</h3>
        <BodyText label="Body of the oldest" text={group.sampleBody} />
      </section>
      <Items group={group} />
    </Panel>
  );
}

import { useState } from "react";
import type { OutboxItem } from "../../../api/index.ts";
import { useAct } from "../../api/hooks.ts";
import { useMay } from "../../api/session.ts";
import { BodyText } from "../../furniture/body-text.tsx";
import { Confirm } from "../../furniture/confirm.tsx";
import { Owner, Runbook } from "../../furniture/owner.tsx";
import { Panel } from "../../furniture/panel.tsx";
import { Age, Duration } from "../../furniture/time.tsx";

interface ItemProps {
  readonly item: OutboxItem;
  readonly onClose: () => void;
}

function Retry({ item, onClose, all }: ItemProps & { readonly all: boolean }) {
  const retry = useAct("outbox.retry");
  const target = `${item.target.kind}:${item.target.name}`;
  return (
    <Confirm
      title={all ? `Put back all that is parked for ${target}` : "Put this row back"}
      verb="Put back"
      onClose={onClose}
      run={async (reason) => {
        const { count } = await retry.mutateAsync({ reason, ...(all ? { target } : { ids: [item.id] }) });
        return `${count} put back, with all their tries again.`;
      }}
    >
      <p>Mend first what made the target refuse it, or it will be parked again after its last try.</p>
    </Confirm>
  );
}

function Discard({ item, onClose }: ItemProps) {
  const discard = useAct("outbox.discard");
  return (
    <Confirm
      danger
      title="Give this row up"
      verb="Discard it"
      onClose={onClose}
      run={async (reason) => {
        await discard.mutateAsync({ id: item.id, reason });
        return "It is gone. That it was, and why it is not any more, stands on the record.";
      }}
    >
      <p>
        It is never published. {item.key !== null && "Later rows of its key go on without it. "}Whoever waits
        for it must be told in another way.
      </p>
    </Confirm>
  );
}

type Asked = "retry" | "retry all" | "discard" | undefined;

function Acts({ item }: { readonly item: OutboxItem }) {
  const [asked, setAsked] = useState<Asked>();
  const may = useMay()("outbox.return");
  const close = () => setAsked(undefined);
  return (
    <div className="row">
      <button
        type="button"
        className="button"
        data-kind="primary"
        disabled={!may}
        onClick={() => setAsked("retry")}
      >
        Put back
      </button>
      <button type="button" className="button" disabled={!may} onClick={() => setAsked("retry all")}>
        Put back all of the target
      </button>
      <button type="button" className="button" disabled={!may} onClick={() => setAsked("discard")}>
        Discard
      </button>
      {(asked === "retry" || asked === "retry all") && (
        <Retry item={item} all={asked === "retry all"} onClose={close} />
      )}
      {asked === "discard" && <Discard item={item} onClose={close} />}
    </div>
  );
}

export function ItemPanel({ item, onClose }: ItemProps) {
  const { target, owner, runbook, type, key, eventId, state } = item;
  const { refusals, failureCode, failureMessage, ageMs, dueInMs } = item;
  return (
    <Panel label="Announcement" title={<h2>{type ?? "Announcement"}</h2>} onClose={onClose}>
      {state === "parked" && <Acts item={item} />}
      <dl className="facts">
        <dt>Target</dt>
        <dd>
          {target.kind}:{target.name}
        </dd>
        <dt>Owner</dt>
        <dd>
          <Owner owner={owner} />
        </dd>
        <dt>Runbook</dt>
        <dd>
          <Runbook runbook={runbook} />
        </dd>
        <dt>Key</dt>
        <dd>{key ?? "none"}</dd>
        <dt>Event</dt>
        <dd>
          <code>{eventId}</code>
        </dd>
        <dt>Age</dt>
        <dd>
          <Age ms={ageMs} />
        </dd>
        <dt>Next try</dt>
        <dd>{dueInMs === null ? "none: it is parked" : <Duration ms={dueInMs} />}</dd>
        <dt>Refused</dt>
        <dd>{refusals} times</dd>
        <dt>Last failure</dt>
        <dd>{failureCode === null ? "none" : `${failureCode}: ${failureMessage}`}</dd>
      </dl>
      <BodyText label="Payload" text={item.payload} />
    </Panel>
  );
}

// One message: where it is, why it is not running, what it says, what was done to it.
import { useState } from "react";
import type { Explanation } from "../../../api/index.ts";
import { useRead } from "../../api/hooks.ts";
import { Badge } from "../../furniture/badge.tsx";
import { BodyText } from "../../furniture/body-text.tsx";
import { useKept } from "../../furniture/kept.ts";
import { Failure } from "../../furniture/notice.tsx";
import { Owner, Runbook } from "../../furniture/owner.tsx";
import { Panel } from "../../furniture/panel.tsx";
import { Instant } from "../../furniture/time.tsx";
import { stateTones } from "./links.ts";
import { MessageActs } from "./message-acts.tsx";

function Reasons({ reasons }: Pick<Explanation, "reasons">) {
  return (
    <section className="stack">
      <h3>Why is this not running?</h3>
      <ol className="reasons decisive">
        {reasons.map(({ code, text }) => (
          <li key={code}>
            <code>{code}</code>
            <span>{text}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function History({ history }: Pick<Explanation, "history">) {
  if (history.length === 0) return null;
  return (
    <section className="stack">
      <h3>What people did to it</h3>
      <ul className="reasons">
        {history.map(({ id, atMs, actor, action, reason }) => (
          <li key={id}>
            <Instant ms={atMs} />
            <span>
              {actor}: {action}
              {reason && ` (${reason})`}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Facts({ message }: { readonly message: Explanation }) {
  return (
    <dl className="facts">
      <dt>Queue</dt>
      <dd>{message.queue}</dd>
      <dt>Sent</dt>
      <dd>
        <Instant ms={message.sentAtMs} />
      </dd>
      <dt>Received</dt>
      <dd>{message.receives} times</dd>
      {message.groupId !== null && (
        <>
          <dt>Group</dt>
          <dd>{message.groupId}</dd>
        </>
      )}
      <dt>Owner</dt>
      <dd>
        <Owner owner={message.owner} />
      </dd>
      <dt>Runbook</dt>
      <dd>
        <Runbook runbook={message.runbook} />
      </dd>
    </dl>
  );
}

export function MessagePanel({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const message = useRead("message", { id });
  const [revealed, setRevealed] = useState<string>();
  const found = useKept(id, message.data?.value);
  return (
    <Panel
      label="Message"
      onClose={onClose}
      title={
        <>
          <h2>
            Message {found && <Badge tone={stateTones[found.state]}>{found.state.replace("_", " ")}</Badge>}
          </h2>
          <code>{found?.messageId ?? id}</code>
        </>
      }
    >
      {message.error && !found && <Failure error={message.error} />}
      {found && (
        <>
          <Reasons reasons={found.reasons} />
          <Facts message={found} />
          <MessageActs message={found} revealed={revealed} onRevealed={setRevealed} />
          <BodyText label="Body" text={revealed ?? found.body} />
          <BodyText label="Attributes" text={found.attributes} />
          <History history={found.history} />
        </>
      )}
    </Panel>
  );
}

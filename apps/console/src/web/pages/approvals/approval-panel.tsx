import type { InboxItem } from "../../../api/index.ts";
import { useMay } from "../../api/session.ts";
import { Badge } from "../../furniture/badge.tsx";
import { BodyText } from "../../furniture/body-text.tsx";
import { Panel } from "../../furniture/panel.tsx";
import { Instant } from "../../furniture/time.tsx";
import type { Word } from "./decide.tsx";
import { Deadline } from "./deadline.tsx";

interface ApprovalProps {
  readonly item: InboxItem;
  readonly onAsk: (word: Word) => void;
  readonly onClose: () => void;
}

function Deciders({ item: { deciders, signatures, signaturesNeeded } }: Pick<ApprovalProps, "item">) {
  return (
    <section className="stack">
      <h3>
        {signatures.length} of {signaturesNeeded} have signed
      </h3>
      <ul className="reasons">
        {signatures.map(({ name, decision, reason, signedAtMs }) => (
          <li key={name}>
            <Badge tone={decision === "approve" ? "good" : "danger"}>{decision}</Badge>
            <span>
              {name}: {reason} (<Instant ms={signedAtMs} />)
            </span>
          </li>
        ))}
        {deciders.map(({ kind, name, via, active, insteadOf }) => (
          <li key={kind + name}>
            <Badge tone={active ? "active" : "idle"}>{active ? "may sign" : "later"}</Badge>
            <span>
              {kind === "person" ? name : `${kind} ${name}`}
              <span className="muted">
                {" "}
                by {via}
                {insteadOf !== null && ` from ${insteadOf}`}
              </span>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Told({ item: { status, toldAtMs } }: Pick<ApprovalProps, "item">) {
  if (status === "pending") return <>not yet: it waits for the decision</>;
  return toldAtMs === null ? <>under way</> : <Instant ms={toldAtMs} />;
}

function Facts({ item }: Pick<ApprovalProps, "item">) {
  return (
    <dl className="facts">
      <dt>Question</dt>
      <dd>
        {item.task} in {item.workflow}
      </dd>
      <dt>Asked by</dt>
      <dd>
        {item.requestedBy}, <Instant ms={item.requestedAtMs} />
      </dd>
      <dt>Due</dt>
      <dd>
        <Deadline item={item} />
      </dd>
      <dt>Escalates</dt>
      <dd>{item.escalateAtMs === null ? "to nobody" : <Instant ms={item.escalateAtMs} />}</dd>
      <dt>Expires</dt>
      <dd>
        <Instant ms={item.expiresAtMs} />
      </dd>
      <dt>Execution told</dt>
      <dd>
        <Told item={item} />
      </dd>
      <dt>Execution</dt>
      <dd>
        <code>{item.executionArn}</code>
      </dd>
    </dl>
  );
}

export function ApprovalPanel({ item, onAsk, onClose }: ApprovalProps) {
  const may = useMay()("approval.decide") && item.status === "pending" && item.waiting;
  return (
    <Panel label="Approval" title={<h2>{item.subject}</h2>} onClose={onClose}>
      <div className="row">
        <button
          type="button"
          className="button"
          data-kind="primary"
          disabled={!may}
          onClick={() => onAsk("approve")}
        >
          Approve <kbd>a</kbd>
        </button>
        <button type="button" className="button" disabled={!may} onClick={() => onAsk("reject")}>
          Reject <kbd>r</kbd>
        </button>
      </div>
      {item.guarded && (
        <p className="muted">
          The application changes its own data with this decision; where it does not run in this process,
          decide through its own API.
        </p>
      )}
      {item.endedReason !== null && <p>{item.endedReason}</p>}
      <Facts item={item} />
      <section className="stack">
        <h3>What was known when it was asked</h3>
        <BodyText label="Evidence" text={JSON.stringify(item.evidence)} />
      </section>
      <Deciders item={item} />
    </Panel>
  );
}

import type { ApprovalView } from "../../../api/index.ts";
import { useMay } from "../../api/session.ts";
import { Badge } from "../../furniture/badge.tsx";
import { BodyText } from "../../furniture/body-text.tsx";
import { Panel } from "../../furniture/panel.tsx";
import { Instant } from "../../furniture/time.tsx";
import type { Word } from "./decide.tsx";
import { Deadline } from "./deadline.tsx";

interface ApprovalProps {
  readonly item: ApprovalView;
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

const verbs: readonly (readonly [Word, string])[] = [
  ["approve", "Approve"],
  ["reject", "Reject"],
  ["escalate", "Escalate"],
  ["withdraw", "Withdraw"],
];

/** Escalating and withdrawing need no application: they change nothing of its own. */
const needsApplication: readonly Word[] = ["approve", "reject"];

function Acts({ item, onAsk }: Pick<ApprovalProps, "item" | "onAsk">) {
  const may = useMay()("approval.decide") && item.status === "pending" && item.waiting;
  const offered = verbs.filter(([word]) => word !== "escalate" || item.escalateAtMs !== null);
  return (
    <div className="row">
      {offered.map(([word, text]) => (
        <button
          key={word}
          type="button"
          className="button"
          data-kind={word === "approve" ? "primary" : undefined}
          disabled={!may || (needsApplication.includes(word) && !item.decidedHere)}
          onClick={() => onAsk(word)}
        >
          {text}
          {needsApplication.includes(word) && <kbd>{word[0]}</kbd>}
        </button>
      ))}
    </div>
  );
}

function Elsewhere({ item }: Pick<ApprovalProps, "item">) {
  if (item.decidedHere || item.status !== "pending") return null;
  return (
    <div className="plan" role="note">
      <strong>It cannot be decided from this console.</strong> The application of {item.workflow} changes its
      own data with the decision, in the same commit, and does not run in this process. Decide through the
      application's own API, by <code>tuntas approval approve {item.id} --app FILE</code>, or from the console
      that <code>tuntas dev FILE</code> or the application itself serves.
    </div>
  );
}

export function ApprovalPanel({ item, onAsk, onClose }: ApprovalProps) {
  return (
    <Panel label="Approval" title={<h2>{item.subject}</h2>} onClose={onClose}>
      <Acts item={item} onAsk={onAsk} />
      <Elsewhere item={item} />
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

import { useState } from "react";
import type { AlarmReport, RunbookReport } from "../../../api/index.ts";
import { useAct, useRead } from "../../api/hooks.ts";
import { useMay } from "../../api/session.ts";
import { Confirm } from "../../furniture/confirm.tsx";
import { Owner, Runbook } from "../../furniture/owner.tsx";
import { Panel } from "../../furniture/panel.tsx";
import { Instant } from "../../furniture/time.tsx";
import { AlarmBadge } from "./alarm-badge.tsx";

interface AlarmProps {
  readonly alarm: AlarmReport;
  readonly onClose: () => void;
}

function Checks({ report }: { readonly report: RunbookReport }) {
  return (
    <section className="stack">
      <h3>The runbook, now</h3>
      <ol className="checklist">
        {report.checks.map(({ number, text, value, unit, detail }) => (
          <li key={number}>
            <span className="muted number">{number}</span>
            <span>
              {text}
              {detail.map((line) => (
                <small key={line} className="muted">
                  {line}
                </small>
              ))}
            </span>
            <span className="number">{value === null ? "" : `${Number(value.toFixed(1))} ${unit}`}</span>
          </li>
        ))}
      </ol>
      {report.suggestion !== null && <p className="plan">{report.suggestion}</p>}
    </section>
  );
}

function Trial({ alarm, onClose }: AlarmProps) {
  const test = useAct("alarm.test");
  return (
    <Confirm
      title={`Try ${alarm.name}`}
      verb="Announce a trial"
      onClose={onClose}
      run={async (reason) => {
        const { receivers } = await test.mutateAsync({ name: alarm.name, reason });
        return receivers === 0
          ? "It has no receiver: nobody would have been told."
          : `Announced to ${receivers}; see the outbox for what became of it.`;
      }}
    >
      <p>Everybody whom it would tell is told, marked as a trial. Its state does not change.</p>
    </Confirm>
  );
}

function History({ alarm: { name, subject } }: Pick<AlarmProps, "alarm">) {
  const changes = useRead("alarm.history", { name, subject }, { everyMs: 10_000 }).data?.value ?? [];
  if (changes.length === 0) return null;
  return (
    <section className="stack">
      <h3>What it said before</h3>
      <ul className="checklist">
        {changes.map(({ atMs, state, reason, test }) => (
          <li key={`${atMs}${state}`}>
            <AlarmBadge state={state} />
            <span>
              {reason}
              {test && " (a trial)"}
            </span>
            <Instant ms={atMs} />
          </li>
        ))}
      </ul>
    </section>
  );
}

export function AlarmPanel({ alarm, onClose }: AlarmProps) {
  const { name, subject, state, reason, owner, runbook } = alarm;
  const report = useRead("alarm.runbook", { name, subject }, { everyMs: 5000 }).data?.value;
  const may = useMay()("alarm.test");
  const [trying, setTrying] = useState(false);
  return (
    <Panel
      label="Alarm"
      onClose={onClose}
      title={
        <>
          <h2>{subject ? `${name}: ${subject}` : name}</h2>
          <AlarmBadge state={state} />
        </>
      }
    >
      {reason && <p>{reason}</p>}
      <dl className="facts">
        <dt>Owner</dt>
        <dd>
          <Owner owner={owner === "none" ? null : owner} />
        </dd>
        <dt>Runbook</dt>
        <dd>
          <Runbook runbook={runbook} />
        </dd>
      </dl>
      {report && <Checks report={report} />}
      <div className="row">
        <button type="button" className="button" disabled={!may} onClick={() => setTrying(true)}>
          Try whom it tells
        </button>
      </div>
      <History alarm={alarm} />
      {trying && <Trial alarm={alarm} onClose={() => setTrying(false)} />}
    </Panel>
  );
}

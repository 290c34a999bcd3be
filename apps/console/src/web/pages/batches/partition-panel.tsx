import { useState } from "react";
import type { JobView, PartitionReport } from "../../../api/index.ts";
import { useMay } from "../../api/session.ts";
import { Panel } from "../../furniture/panel.tsx";
import { durationText, Instant } from "../../furniture/time.tsx";
import { PartitionBadge } from "./badges.tsx";
import { SayToJob } from "./job-acts.tsx";

interface PartitionProps {
  readonly view: JobView;
  readonly partition: PartitionReport;
}

/** What comes next for it, by itself or by a person. */
function nextOf({ view, partition: { state, attempts } }: PartitionProps): string {
  const { declared, verbs } = view;
  if (state === "done") return "Nothing: it is not done again, whatever becomes of the others.";
  if (state === "cancelled") return "Nothing: its job was cancelled.";
  if (state === "running") return "It is worked on now.";
  if (state === "failed")
    return verbs.includes("retry")
      ? "Mend the cause, then retry what failed of the job."
      : `It can be retried once the other partitions have ended.`;
  if (view.state !== "running") return "It is begun when its job is.";
  return attempts > 0
    ? `It is tried again, ${declared.attempts} times in all at most.`
    : `A process of ${declared.runsOn ?? "the application"} takes it up, ${declared.concurrency} at once in all.`;
}

function Facts({ view, partition }: PartitionProps) {
  const { key, attempts, rows, hash, begunAtMs, endedAtMs, failureCode, failureMessage } = partition;
  return (
    <dl className="facts">
      <dt>Key</dt>
      <dd>{key}</dd>
      {failureCode !== null && (
        <>
          <dt>Why</dt>
          <dd>
            <strong>{failureCode}</strong> {failureMessage}
          </dd>
        </>
      )}
      <dt>Next</dt>
      <dd>{nextOf({ view, partition })}</dd>
      <dt>Attempts</dt>
      <dd>
        {attempts} of {view.declared.attempts}
      </dd>
      <dt>Began</dt>
      <dd>
        <Instant ms={begunAtMs} />
      </dd>
      <dt>Ended</dt>
      <dd>
        <Instant ms={endedAtMs} />
        {begunAtMs !== null && endedAtMs !== null && (
          <span className="muted">, after {durationText(endedAtMs - begunAtMs)}</span>
        )}
      </dd>
      {rows !== null && (
        <>
          <dt>Staged</dt>
          <dd>
            {rows.toLocaleString("en")} rows, <code>{hash}</code>
          </dd>
        </>
      )}
    </dl>
  );
}

export function PartitionPanel({ onClose, ...of }: PartitionProps & { readonly onClose: () => void }) {
  const may = useMay()("batch.change");
  const [retrying, setRetrying] = useState(false);
  const { view, partition } = of;
  return (
    <Panel
      label="Partition"
      onClose={onClose}
      title={
        <>
          <h2>Partition {partition.number}</h2>
          <PartitionBadge state={partition.state} />
        </>
      }
    >
      {partition.state === "failed" && view.verbs.includes("retry") && (
        <div className="row">
          <button
            type="button"
            className="button"
            data-kind="primary"
            disabled={!may}
            onClick={() => setRetrying(true)}
          >
            Retry what failed
          </button>
        </div>
      )}
      <Facts {...of} />
      {retrying && <SayToJob view={view} verb="retry" onClose={() => setRetrying(false)} />}
    </Panel>
  );
}

import { useState } from "react";
import type { ConsumerPartition, StreamView } from "../../../api/index.ts";
import { useRead } from "../../api/hooks.ts";
import { useMay } from "../../api/session.ts";
import { BodyText } from "../../furniture/body-text.tsx";
import { counted } from "../../furniture/count.tsx";
import { Failure } from "../../furniture/notice.tsx";
import { Panel } from "../../furniture/panel.tsx";
import { Age, Instant } from "../../furniture/time.tsx";
import { PartitionBadge } from "./badges.tsx";
import { Resume, Skip } from "./consumer-acts.tsx";
import type { ConsumerProps } from "./rewind.tsx";

interface PanelProps extends ConsumerProps {
  readonly partition: ConsumerPartition;
  readonly onClose: () => void;
}

function Facts({ view, consumer, partition: of }: Omit<PanelProps, "onClose">) {
  const { partition, nextOffset, lag, lagMs, owner, attempts, code, reason, stoppedAtMs } = of;
  const kept = view.offsets[partition];
  return (
    <dl className="facts">
      <dt>Consumer</dt>
      <dd>{consumer.name}</dd>
      <dt>Reads next</dt>
      <dd>
        offset {nextOffset}
        {kept && (
          <span className="muted">
            , kept from {kept.first} to {kept.next}
          </span>
        )}
      </dd>
      <dt>Unread</dt>
      <dd>
        {counted(lag, "record")}
        {lagMs !== null && (
          <>
            , the oldest <Age ms={lagMs} />
          </>
        )}
      </dd>
      <dt>Read by</dt>
      <dd>{owner ?? "no process"}</dd>
      {code !== null && (
        <>
          <dt>Why</dt>
          <dd>
            <strong>{code}</strong> {reason}
          </dd>
          <dt>Failures</dt>
          <dd>{attempts} of the record that it stands at</dd>
        </>
      )}
      {stoppedAtMs !== null && (
        <>
          <dt>Stopped</dt>
          <dd>
            <Instant ms={stoppedAtMs} />
          </dd>
        </>
      )}
    </dl>
  );
}

function Record({ view, partition: of }: { view: StreamView; partition: ConsumerPartition }) {
  const [partition, offset] = [String(of.partition), String(of.nextOffset)];
  const read = useRead("stream.record", { stream: view.name, partition, offset }, { everyMs: false });
  const record = read.data?.value.record;
  return (
    <section className="stack">
      <h3>The record that it reads next</h3>
      {read.error && !read.data && <Failure error={read.error} />}
      {record === null && <p className="muted">It has no offset yet.</p>}
      {record && (
        <>
          <p className="muted">
            Key <strong>{record.key}</strong>, appended <Instant ms={record.appendedAtMs} />
          </p>
          <BodyText label="The record" text={record.body} />
        </>
      )}
    </section>
  );
}

export function PartitionPanel({ onClose, ...of }: PanelProps) {
  const [asked, setAsked] = useState<"resume" | "skip">();
  const may = useMay()("stream.change");
  const { partition, standing, lag } = of.partition;
  const close = () => setAsked(undefined);
  return (
    <Panel
      label="Partition"
      onClose={onClose}
      title={
        <>
          <h2>Partition {partition}</h2>
          <PartitionBadge standing={standing} />
        </>
      }
    >
      {standing === "stopped" && (
        <div className="row">
          <button
            type="button"
            className="button"
            data-kind="primary"
            disabled={!may}
            onClick={() => setAsked("resume")}
          >
            Resume
          </button>
          <button type="button" className="button" disabled={!may} onClick={() => setAsked("skip")}>
            Skip the record
          </button>
        </div>
      )}
      <Facts {...of} />
      {lag > 0 && <Record view={of.view} partition={of.partition} />}
      {asked === "resume" && <Resume {...of} onClose={close} />}
      {asked === "skip" && <Skip {...of} onClose={close} />}
    </Panel>
  );
}

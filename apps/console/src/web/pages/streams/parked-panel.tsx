import type { Parked } from "../../../api/index.ts";
import { BodyText } from "../../furniture/body-text.tsx";
import { Panel } from "../../furniture/panel.tsx";
import { Instant } from "../../furniture/time.tsx";
import { ParkedBadge } from "./badges.tsx";
import { ParkedActs } from "./parked-acts.tsx";

export function ParkedPanel({ record, onClose }: { readonly record: Parked; readonly onClose: () => void }) {
  const { id, stream, consumer, partition, offset, key, code, reason, attempts, parkedAtMs, body } = record;
  return (
    <Panel
      label="Parked record"
      onClose={onClose}
      title={
        <>
          <h2>{code}</h2>
          <ParkedBadge record={record} />
        </>
      }
    >
      <ParkedActs choice={{ stream, consumer, ids: [id], what: `${stream}/${partition}/${offset}` }} />
      <dl className="facts">
        <dt>What it said</dt>
        <dd>{reason}</dd>
        <dt>Consumer</dt>
        <dd>{consumer}</dd>
        <dt>Key</dt>
        <dd>{key}</dd>
        <dt>Id</dt>
        <dd>
          {stream}/{partition}/{offset}
        </dd>
        <dt>Failures</dt>
        <dd>{attempts}</dd>
        <dt>Parked</dt>
        <dd>
          <Instant ms={parkedAtMs} />
        </dd>
      </dl>
      <section className="stack">
        <h3>The record</h3>
        <BodyText label="The record" text={body} />
      </section>
    </Panel>
  );
}

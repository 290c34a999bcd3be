// One stream: how it stands, who has read how much of it, what could not be handled, and what can be done about it.
import { Link, useParams } from "wouter";
import type { StreamView } from "../../../api/index.ts";
import { useRead } from "../../api/hooks.ts";
import { Acts } from "../../furniture/acts.tsx";
import { counted, countText, rateText } from "../../furniture/count.tsx";
import { Figures, type Figure } from "../../furniture/figures.tsx";
import { Owner, Runbook } from "../../furniture/owner.tsx";
import { Page } from "../../furniture/page.tsx";
import { Tabs, useTab } from "../../furniture/tabs.tsx";
import { ageText, durationText } from "../../furniture/time.tsx";
import { StandingBadge } from "./badges.tsx";
import { Consumers, useConsumer } from "./consumers.tsx";
import { ParkedRecords } from "./parked.tsx";
import { Standing } from "./standing.tsx";
import "./streams.css";

function figuresOf(view: StreamView): readonly Figure[] {
  const { perSecond, lag, lagMs, stopped, parked, records, retentionMs } = view;
  return [
    { name: "Records/s", value: rateText(perSecond), note: "in the last 5 min" },
    { name: "Lag", value: countText(lag), note: "of the last reader" },
    { name: "Oldest unread", value: lagMs === null ? "–" : ageText(lagMs), note: "of any reader" },
    {
      name: "Stopped",
      value: stopped,
      note: "at a bad record",
      tone: stopped > 0 ? "danger" : undefined,
    },
    {
      name: "Parked",
      value: countText(parked),
      note: "records gone past",
      tone: parked > 0 ? "warn" : undefined,
    },
    {
      name: "Kept",
      value: countText(records),
      note: `for ${durationText(retentionMs)}`,
    },
  ];
}

const Lead = ({ view: { standing, partitions, key, owner, runbook } }: { readonly view: StreamView }) => (
  <span className="lines">
    <span className="row">
      <StandingBadge standing={standing} />
      <span>
        {counted(partitions, "partition")}, by {key}
      </span>
    </span>
    <span className="row">
      <Owner owner={owner} />
      <Runbook runbook={runbook} />
    </span>
  </span>
);

function Views({ view }: { readonly view: StreamView }) {
  const tab = useTab("view", ["consumers", "parked", "record"]);
  const consumer = useConsumer(view);
  return (
    <>
      <Tabs
        name="view"
        label="Views of the stream"
        tabs={[
          ["consumers", "Consumers"],
          ["parked", view.parked > 0 ? `Parked records, ${countText(view.parked)}` : "Parked records"],
          ["record", "Record"],
        ]}
      />
      {tab === "consumers" && <Consumers view={view} />}
      {tab === "parked" && <ParkedRecords view={view} />}
      {tab === "record" && consumer && <Acts subject={`stream ${view.name} consumer ${consumer.name}`} />}
    </>
  );
}

export default function Stream() {
  const { name = "" } = useParams();
  const stream = decodeURIComponent(name);
  const read = useRead("stream", { stream });
  const view = read.data?.value;
  return (
    <Page
      title={stream}
      trail={<Link href="/streams">Streams</Link>}
      lead={view && <Lead view={view} />}
      read={read}
    >
      {view && (
        <>
          <Figures label="The stream in numbers" figures={figuresOf(view)} />
          <Standing view={view} />
          <Views view={view} />
        </>
      )}
    </Page>
  );
}

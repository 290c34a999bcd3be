// One run: where it stands and why, what happened as a graph, over time and event by event, and what it left behind.
import { lazy, Suspense } from "react";
import { Link, useParams } from "wouter";
import type { MapRunRecord, RunView, Visit } from "../../../api/index.ts";
import { useRead } from "../../api/hooks.ts";
import { Badge } from "../../furniture/badge.tsx";
import { BodyText } from "../../furniture/body-text.tsx";
import { Page } from "../../furniture/page.tsx";
import { Table, type Column } from "../../furniture/table.tsx";
import { Tabs, useTab } from "../../furniture/tabs.tsx";
import { durationText, Instant } from "../../furniture/time.tsx";
import { useUrl } from "../../furniture/url.ts";
import Events from "./events.tsx";
import Evidence from "./evidence.tsx";
import { machineHref } from "./links.ts";
import { Positions } from "./positions.tsx";
import { RunActs } from "./run-acts.tsx";
import { statusText, statusTones } from "./tones.ts";
import { VisitPanel } from "./visit-panel.tsx";
import Waterfall from "./waterfall.tsx";
import "./workflows.css";

// The one part that is large: its layout library is loaded when a graph is looked at.
const Graph = lazy(() => import("./graph/index.tsx"));

const tabs = [
  ["graph", "Graph"],
  ["waterfall", "Waterfall"],
  ["events", "Events"],
  ["evidence", "Evidence"],
  ["texts", "Input and output"],
] as const;

const tabNames = ["graph", "waterfall", "events", "evidence", "texts"] as const;

function Lead({ run }: { readonly run: RunView }) {
  const { status, startedAtMs, stoppedAtMs, redriveCount, versionArn, aliasArn } = run.execution;
  const took = durationText((stoppedAtMs ?? run.nowMs) - startedAtMs);
  const by = aliasArn ?? versionArn;
  return (
    <span className="row">
      <Badge tone={statusTones[status]}>{statusText(status)}</Badge>
      <span>
        Started <Instant ms={startedAtMs} />, {stoppedAtMs === null ? `running for ${took}` : `took ${took}`}
      </span>
      {redriveCount > 0 && <span>Redriven {redriveCount} times</span>}
      {by !== null && <span>By {by.slice(by.lastIndexOf(":") + 1)}</span>}
    </span>
  );
}

/** A function's error is told as Lambda tells it; people read the sentence in it. */
function sentenceOf(cause: string): string {
  try {
    const { errorMessage } = JSON.parse(cause) as { errorMessage?: unknown };
    return typeof errorMessage === "string" ? errorMessage : cause;
  } catch {
    return cause;
  }
}

function Ended({ run }: { readonly run: RunView }) {
  const { status, error, cause } = run.execution;
  if (status === "RUNNING" || status === "SUCCEEDED") return null;
  return (
    <div className="failure" role="note">
      <strong>{error ?? statusText(status)}</strong>
      {cause !== undefined && <span>{sentenceOf(cause)}</span>}
    </div>
  );
}

const mapRunColumns: readonly Column<MapRunRecord>[] = [
  {
    key: "arn",
    head: "Map run",
    cell: ({ arn }) => (
      <Link className="plain" href={`/workflows?mapRun=${encodeURIComponent(arn)}`}>
        {arn.slice(arn.lastIndexOf(":") + 1)}
      </Link>
    ),
  },
  {
    key: "status",
    head: "Status",
    width: "8rem",
    cell: ({ status }) => <Badge tone={statusTones[status]}>{statusText(status)}</Badge>,
  },
  {
    key: "children",
    head: "Children",
    width: "22rem",
    cell: ({ counts, childCount }) =>
      [
        `${childCount} in all`,
        ...Object.entries(counts).map(
          ([status, count]) => `${count} ${status.toLowerCase().replace("_", " ")}`,
        ),
      ].join(" · "),
  },
];

const Texts = ({ run }: { readonly run: RunView }) => (
  <div className="split">
    <div className="labelled">
      <h2>Input</h2>
      <BodyText label="Input" text={run.execution.input} />
    </div>
    <div className="labelled">
      <h2>Output</h2>
      {run.execution.output === null ? (
        <p className="muted">There is none.</p>
      ) : (
        <BodyText label="Output" text={run.execution.output} />
      )}
    </div>
  </div>
);

function Views({ run }: { readonly run: RunView }) {
  const url = useUrl();
  const tab = useTab("view", tabNames);
  const visit = Number(url.get("visit") ?? 0);
  const state = url.get("state") ?? run.visits.find(({ id }) => id === visit)?.state;
  const select = (next: Visit) => url.set({ state: next.state, visit: String(next.id) }, "push");
  const { arn, startedAtMs, status } = run.execution;
  return (
    <>
      <Tabs name="view" label="Views of the run" tabs={tabs} />
      <Suspense fallback={null}>
        {tab === "graph" && (
          <Graph
            definition={run.definition}
            run={run}
            selected={state}
            onSelect={(name) => url.set({ state: name, visit: undefined }, "push")}
          />
        )}
        {tab === "waterfall" && <Waterfall run={run} selected={visit} onSelect={select} />}
        {tab === "events" && <Events arn={arn} startedAtMs={startedAtMs} isRunning={status === "RUNNING"} />}
        {tab === "evidence" && <Evidence run={run} />}
        {tab === "texts" && <Texts run={run} />}
      </Suspense>
      {state !== undefined && (
        <VisitPanel
          run={run}
          state={state}
          visit={visit}
          onVisit={select}
          onClose={() => url.set({ state: undefined, visit: undefined })}
        />
      )}
    </>
  );
}

export default function Run() {
  const { arn = "" } = useParams();
  const read = useRead("run", { arn: decodeURIComponent(arn) });
  const run = read.data?.value;
  return (
    <Page
      title={run?.execution.name ?? "Execution"}
      trail={
        <>
          <Link href="/workflows">Workflows</Link>
          {run && (
            <>
              {" › "}
              <Link href={machineHref(run.machine)}>{run.machine}</Link>
            </>
          )}
        </>
      }
      lead={run && <Lead run={run} />}
      read={read}
      acts={run && <RunActs run={run} />}
    >
      {run && (
        <>
          <Ended run={run} />
          {run.execution.status === "RUNNING" && <Positions positions={run.positions} nowMs={run.nowMs} />}
          {run.mapRuns.length > 0 && (
            <Table label="Map runs" rows={run.mapRuns} columns={mapRunColumns} keyOf={(each) => each.arn} />
          )}
          <Views run={run} />
        </>
      )}
    </Page>
  );
}

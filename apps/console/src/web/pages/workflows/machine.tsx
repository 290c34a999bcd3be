// One machine: as a graph, as text, and its versions and aliases.
import { lazy, Suspense } from "react";
import { Link, useParams } from "wouter";
import type { AliasRecord, MachineView, VersionRecord } from "../../../api/index.ts";
import { useRead } from "../../api/hooks.ts";
import { useMay } from "../../api/session.ts";
import { BodyText } from "../../furniture/body-text.tsx";
import { Empty } from "../../furniture/notice.tsx";
import { Page } from "../../furniture/page.tsx";
import { Panel } from "../../furniture/panel.tsx";
import { Table, type Column } from "../../furniture/table.tsx";
import { Tabs, useTab } from "../../furniture/tabs.tsx";
import { Instant } from "../../furniture/time.tsx";
import { useUrl } from "../../furniture/url.ts";
import { machineOf, specOf } from "tuntas/asl/graph";
import "./workflows.css";

const Graph = lazy(() => import("./graph/index.tsx"));

const tabs = [
  ["graph", "Graph"],
  ["definition", "Definition"],
  ["versions", "Versions and aliases"],
] as const;

function Lead({ view }: { readonly view: MachineView }) {
  const { type, updatedAtMs, handlers } = view.record;
  return (
    <span className="row">
      <span>{type === "EXPRESS" ? "Express" : "Standard"}</span>
      <span>
        Defined <Instant ms={updatedAtMs} />
      </span>
      <span>{handlers === null ? "Made over the wire" : "Declared in code"}</span>
    </span>
  );
}

const versionColumns: readonly Column<VersionRecord>[] = [
  { key: "number", head: "Version", width: "6rem", cell: ({ number }) => <strong>{number}</strong> },
  {
    key: "description",
    head: "Description",
    cell: ({ description }) => description ?? <span className="zero">–</span>,
  },
  {
    key: "at",
    head: "Published",
    width: "11rem",
    align: "right",
    cell: ({ createdAtMs }) => <Instant ms={createdAtMs} />,
  },
];

const routesText = ({ routes }: AliasRecord): string =>
  routes
    .map(
      ({ stateMachineVersionArn: arn, weight }) =>
        `${weight} % version ${arn.slice(arn.lastIndexOf(":") + 1)}`,
    )
    .join(", ");

const aliasColumns: readonly Column<AliasRecord>[] = [
  { key: "name", head: "Alias", width: "12rem", cell: ({ name }) => <strong>{name}</strong> },
  { key: "routes", head: "Goes to", cell: routesText },
  {
    key: "at",
    head: "Changed",
    width: "11rem",
    align: "right",
    cell: ({ updatedAtMs }) => <Instant ms={updatedAtMs} />,
  },
];

function Versions({ versions, aliases }: Pick<MachineView, "versions" | "aliases">) {
  if (versions.length === 0)
    return (
      <Empty title="No version is published.">
        Each change makes a revision, and an execution keeps the one that it began with.
        PublishStateMachineVersion gives one a number to start by.
      </Empty>
    );
  return (
    <div className="stack">
      <Table label="Versions" rows={versions} columns={versionColumns} keyOf={({ arn }) => arn} />
      {aliases.length > 0 && (
        <Table label="Aliases" rows={aliases} columns={aliasColumns} keyOf={({ arn }) => arn} />
      )}
    </div>
  );
}

function StatePanel({
  definition,
  state,
  onClose,
}: {
  definition: string;
  state: string;
  onClose: () => void;
}) {
  const scope = machineOf(definition);
  const spec = scope && specOf(scope, state);
  return (
    <Panel label="State" title={<h2>{state}</h2>} onClose={onClose}>
      <BodyText label="As defined" text={spec ? JSON.stringify(spec) : "There is no such state."} />
    </Panel>
  );
}

function Views({ view }: { readonly view: MachineView }) {
  const url = useUrl();
  const tab = useTab("view", ["graph", "definition", "versions"]);
  const state = url.get("state");
  const { definition } = view.record;
  return (
    <>
      <Tabs name="view" label="Views of the machine" tabs={tabs} />
      <Suspense fallback={null}>
        {tab === "graph" && (
          <Graph
            definition={definition}
            selected={state}
            onSelect={(name) => url.set({ state: name }, "push")}
          />
        )}
      </Suspense>
      {tab === "definition" && <BodyText label="Definition" text={definition} />}
      {tab === "versions" && <Versions versions={view.versions} aliases={view.aliases} />}
      {state !== undefined && (
        <StatePanel definition={definition} state={state} onClose={() => url.set({ state: undefined })} />
      )}
    </>
  );
}

export default function Machine() {
  const { name = "" } = useParams();
  const machine = decodeURIComponent(name);
  const read = useRead("machine", { machine }, { everyMs: 5000 });
  const view = read.data?.value;
  const may = useMay()("workflow.start");
  return (
    <Page
      title={machine}
      trail={<Link href="/workflows">Workflows</Link>}
      lead={view && <Lead view={view} />}
      read={read}
      acts={
        <>
          <Link className="button" href={`/workflows?machine=${encodeURIComponent(machine)}`}>
            Executions
          </Link>
          {may && (
            <Link
              className="button"
              data-kind="primary"
              href={`/try?what=execution&machine=${encodeURIComponent(machine)}`}
            >
              Start
            </Link>
          )}
        </>
      }
    >
      {view && <Views view={view} />}
    </Page>
  );
}

// What was deployed before, and the revisions that can be deployed again.
import { useState } from "react";
import type { Deployment, RevisionView, ServiceView } from "../../../api/index.ts";
import { useRead } from "../../api/hooks.ts";
import { useMay } from "../../api/session.ts";
import { Failure } from "../../furniture/notice.tsx";
import { Panel } from "../../furniture/panel.tsx";
import { Table, type Column } from "../../furniture/table.tsx";
import { Instant } from "../../furniture/time.tsx";
import { useUrl } from "../../furniture/url.ts";
import { DeploymentBadge } from "./badges.tsx";
import { About, Batches } from "./rollout.tsx";
import { Deploy } from "./service-acts.tsx";

const deploymentColumns: readonly Column<Deployment>[] = [
  { key: "id", head: "Deployment", width: "8rem", cell: ({ id }) => <strong>{id}</strong> },
  { key: "state", head: "State", width: "9rem", cell: ({ state }) => <DeploymentBadge state={state} /> },
  {
    key: "revision",
    head: "Revision",
    width: "5.5rem",
    align: "right",
    cell: ({ revision }) => <span className="number">{revision}</span>,
  },
  { key: "actor", head: "By", width: "9rem", wideOnly: true, cell: ({ actor }) => actor },
  { key: "reason", head: "Why", cell: ({ reason }) => reason ?? <span className="zero">–</span> },
  {
    key: "started",
    head: "Begun",
    width: "10.5rem",
    wideOnly: true,
    cell: ({ startedAtMs }) => <Instant ms={startedAtMs} />,
  },
];

function DeploymentPanel({
  service,
  id,
  onClose,
}: {
  readonly service: string;
  readonly id: string;
  readonly onClose: () => void;
}) {
  const read = useRead("service.deployment", { service, id });
  const deployment = read.data?.value;
  return (
    <Panel
      label="Deployment"
      onClose={onClose}
      title={
        <>
          <h2>Deployment {id}</h2>
          {deployment && <DeploymentBadge state={deployment.state} />}
        </>
      }
    >
      {read.error && !deployment && <Failure error={read.error} />}
      {deployment && <About deployment={deployment} />}
      {deployment && <Batches deployment={deployment} />}
    </Panel>
  );
}

const versionOf = ({ definition }: RevisionView): string => definition.version ?? "–";

function columnsOf(current: number, may: boolean, ask: (revision: RevisionView) => void) {
  const verbOf = ({ revision }: RevisionView) => (revision === current ? "Deploy anew" : "Deploy");
  const columns: readonly Column<RevisionView>[] = [
    { key: "number", head: "Revision", width: "6rem", cell: ({ revision }) => <strong>{revision}</strong> },
    { key: "version", head: "Version", width: "9rem", cell: versionOf },
    {
      key: "changes",
      head: "Changes",
      wideOnly: true,
      cell: ({ changes }) =>
        changes.length === 0 ? (
          <span className="zero">–</span>
        ) : (
          <span title={changes.join("\n")}>{changes.join("; ")}</span>
        ),
    },
    {
      key: "at",
      head: "Registered",
      width: "10.5rem",
      wideOnly: true,
      cell: ({ registeredAtMs }) => <Instant ms={registeredAtMs} />,
    },
    {
      key: "act",
      head: "",
      width: "9.5rem",
      align: "right",
      cell: (each) => (
        <button
          type="button"
          className="button"
          data-size="small"
          disabled={!may}
          aria-label={`${verbOf(each)} revision ${each.revision}`}
          onClick={() => ask(each)}
        >
          {verbOf(each)}
        </button>
      ),
    },
  ];
  return columns;
}

export function History({ view }: { readonly view: ServiceView }) {
  const url = useUrl();
  const may = useMay()("service.deploy");
  const [asked, setAsked] = useState<RevisionView>();
  const deployment = url.get("deployment");
  return (
    <>
      <section className="card" aria-label="Deployments">
        <header>
          <h2>Deployments</h2>
        </header>
        <Table
          label="Deployments"
          rows={view.deployments}
          columns={deploymentColumns}
          keyOf={({ id }) => id}
          selected={deployment}
          onOpen={({ id }) => url.set({ deployment: id }, "push")}
        />
      </section>
      <section className="card" aria-label="Revisions">
        <header>
          <h2>Revisions</h2>
        </header>
        <Table
          label="Revisions"
          rows={view.revisions}
          columns={columnsOf(view.revision, may, setAsked)}
          keyOf={({ revision }) => String(revision)}
        />
      </section>
      {deployment !== undefined && (
        <DeploymentPanel
          service={view.name}
          id={deployment}
          onClose={() => url.set({ deployment: undefined })}
        />
      )}
      {asked && <Deploy view={view} revision={asked} onClose={() => setAsked(undefined)} />}
    </>
  );
}

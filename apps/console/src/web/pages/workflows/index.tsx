// Machines, and what runs or ran of them.
import { Link, useLocation } from "wouter";
import type { ExecutionSummary, MachineSurvey } from "../../../api/index.ts";
import { usePages, type Listed } from "../../api/hooks.ts";
import { Badge } from "../../furniture/badge.tsx";
import { Count } from "../../furniture/count.tsx";
import { useQueryOf } from "../../furniture/filtered.ts";
import { List } from "../../furniture/list.tsx";
import { Page } from "../../furniture/page.tsx";
import type { Column } from "../../furniture/table.tsx";
import { Duration, Instant } from "../../furniture/time.tsx";
import { useUrl } from "../../furniture/url.ts";
import { machineHref, runHref } from "./links.ts";
import { statusText, statusTones } from "./tones.ts";
import "./workflows.css";

const machineColumns: readonly Column<MachineSurvey>[] = [
  {
    key: "name",
    head: "Machine",
    cell: ({ name }) => (
      <Link className="plain" href={machineHref(name)}>
        {name}
      </Link>
    ),
  },
  { key: "type", head: "Type", width: "7.5rem", wideOnly: true, cell: ({ type }) => type.toLowerCase() },
  {
    key: "declared",
    head: "Tasks",
    width: "9rem",
    wideOnly: true,
    cell: ({ declared }) => (declared ? "handlers in code" : <span className="zero">over the wire</span>),
  },
  {
    key: "running",
    head: "Running",
    width: "6rem",
    align: "right",
    cell: ({ recent }) => <Count value={recent.RUNNING ?? 0} />,
  },
  {
    key: "succeeded",
    head: "Succeeded",
    width: "6.5rem",
    align: "right",
    wideOnly: true,
    cell: ({ recent }) => <Count value={recent.SUCCEEDED ?? 0} />,
  },
  {
    key: "failed",
    head: "Failed",
    width: "6rem",
    align: "right",
    cell: ({ recent }) => (
      <Count value={(recent.FAILED ?? 0) + (recent.TIMED_OUT ?? 0) + (recent.ABORTED ?? 0)} />
    ),
  },
  {
    key: "started",
    head: "Last start",
    width: "11rem",
    align: "right",
    wideOnly: true,
    cell: ({ startedAtMs }) => <Instant ms={startedAtMs} />,
  },
];

const columns: readonly Column<ExecutionSummary>[] = [
  {
    key: "status",
    head: "Status",
    width: "9rem",
    cell: ({ status }) => <Badge tone={statusTones[status]}>{statusText(status)}</Badge>,
  },
  {
    key: "name",
    head: "Execution",
    cell: ({ arn, name }) => (
      <Link className="plain" href={runHref(arn)}>
        {name}
      </Link>
    ),
  },
  { key: "machine", head: "Machine", width: "12rem", wideOnly: true, cell: ({ machine }) => machine },
  {
    key: "at",
    head: "Stands at",
    width: "15rem",
    wideOnly: true,
    cell: ({ states, error }) => error ?? (states.join(", ") || <span className="zero">–</span>),
  },
  {
    key: "started",
    head: "Started",
    width: "10rem",
    wideOnly: true,
    cell: ({ startedAtMs }) => <Instant ms={startedAtMs} />,
  },
  {
    key: "took",
    head: "Took",
    width: "7rem",
    align: "right",
    cell: ({ startedAtMs, stoppedAtMs }) => <Duration ms={(stoppedAtMs ?? Date.now()) - startedAtMs} />,
  },
];

const statusChoices = [
  ["", "Every status"],
  ["RUNNING", "Running"],
  ["SUCCEEDED", "Succeeded"],
  ["FAILED", "Failed"],
  ["TIMED_OUT", "Timed out"],
  ["ABORTED", "Aborted"],
] as const;

const withinChoices = [
  ["", "Whenever started"],
  ["1h", "In the last hour"],
  ["24h", "In the last day"],
  ["7d", "In the last week"],
] as const;

function Machines({ machines }: { readonly machines: Listed<MachineSurvey> }) {
  const url = useUrl();
  return (
    <List
      label="Machines"
      list={machines}
      columns={machineColumns}
      keyOf={({ name }) => name}
      selected={url.get("machine")}
      onOpen={({ name }) => url.set({ machine: url.get("machine") === name ? undefined : name })}
      empty={[
        "There is no state machine yet.",
        "One appears when code declares a workflow, or a client creates it over the wire.",
      ]}
    />
  );
}

const MapRunNote = ({ arn }: { readonly arn: string | undefined }) =>
  arn === undefined ? null : (
    <p className="muted">
      Children of map run <code>{arn}</code>. <Link href="/workflows">See all executions</Link>
    </p>
  );

function Executions({ machines }: { readonly machines: readonly MachineSurvey[] }) {
  const [, go] = useLocation();
  const query = useQueryOf("executions", ["machine", "status", "name", "within", "error", "mapRun"]);
  const executions = usePages("executions", query);
  return (
    <>
      <MapRunNote arn={query.mapRun} />
      <List
        tall
        label="Executions"
        list={executions}
        nouns={["execution", "executions"]}
        filters={[
          { kind: "search", name: "name", label: "Name begins with" },
          {
            kind: "choice",
            name: "machine",
            label: "Machine",
            choices: [["", "Every machine"], ...machines.map(({ name }) => [name, name] as const)],
          },
          { kind: "choice", name: "status", label: "Status", choices: statusChoices },
          { kind: "choice", name: "within", label: "Started", choices: withinChoices },
        ]}
        columns={columns}
        keyOf={({ id }) => id}
        onOpen={({ arn }) => go(runHref(arn))}
        empty={[
          "No execution fits.",
          "Start one here under Try it, with `tuntas workflow start`, an AWS SDK, or from code.",
        ]}
      />
    </>
  );
}

export default function Workflows() {
  const machines = usePages("machines", {});
  return (
    <Page title="Workflows" lead="State machines, and what runs or ran of them.">
      <Machines machines={machines} />
      <Executions machines={machines.items} />
    </Page>
  );
}

// What the run has left behind, beside what its own state says: the domain's row, commands, announcements, side effects,
// reservations, questions to people; and what all that means for a redrive.
import type { ReactNode } from "react";
import { Link } from "wouter";
import type { Inspection, RunView } from "../../../api/index.ts";
import { useRead } from "../../api/hooks.ts";
import { Badge, type Tone } from "../../furniture/badge.tsx";
import { Empty, Failure } from "../../furniture/notice.tsx";
import { Table, type Column } from "../../furniture/table.tsx";
import { Instant } from "../../furniture/time.tsx";
import { Findings, verdictTones } from "./findings.tsx";
import { statusText, statusTones } from "./tones.ts";

function Domain({ domain }: Pick<Inspection, "domain">) {
  if (domain.known === "none declared")
    return <p className="muted">The workflow declares no domain row. Its declaration says how: `domain`.</p>;
  if (domain.known === "not read here")
    return (
      <p className="muted">It was not read: its application runs elsewhere, or declares no domain row.</p>
    );
  if (!domain.row) return <p>There is no row of key {domain.key}.</p>;
  return (
    <dl className="facts">
      <dt>Key</dt>
      <dd>{domain.key}</dd>
      {Object.entries(domain.row).map(([name, value]) => (
        <FactPair key={name} name={name} value={value} />
      ))}
    </dl>
  );
}

const FactPair = ({ name, value }: { readonly name: string; readonly value: unknown }) => (
  <>
    <dt>{name}</dt>
    <dd>{typeof value === "string" ? value : JSON.stringify(value)}</dd>
  </>
);

/** What the machine says and what the domain says, side by side. */
function SideBySide({ run, inspection }: { readonly run: RunView; readonly inspection: Inspection }) {
  const at = run.positions.filter(({ hold }) => hold !== "children").map(({ state }) => state);
  return (
    <div className="split">
      <section className="card" aria-label="What the machine says">
        <header>
          <h2>What the machine says</h2>
          <Badge tone={statusTones[run.execution.status]}>{statusText(run.execution.status)}</Badge>
        </header>
        <dl className="facts inside">
          <dt>Stands at</dt>
          <dd>{at.join(", ") || "its end"}</dd>
          <dt>Redriven</dt>
          <dd>{run.execution.redriveCount} times</dd>
        </dl>
      </section>
      <section className="card" aria-label="What the domain says">
        <header>
          <h2>What the domain says</h2>
        </header>
        <div className="inside">
          <Domain domain={inspection.domain} />
        </div>
      </section>
    </div>
  );
}

function Facts<T>({
  title,
  rows,
  columns,
  keyOf,
}: {
  readonly title: string;
  readonly rows: readonly T[];
  readonly columns: readonly Column<T>[];
  readonly keyOf: (row: T) => string;
}) {
  if (rows.length === 0) return null;
  return (
    <section className="card" aria-label={title}>
      <header>
        <h2>{title}</h2>
      </header>
      <Table label={title} rows={rows} columns={columns} keyOf={keyOf} />
    </section>
  );
}

const column = <T,>(key: string, head: string, cell: (row: T) => ReactNode, width?: string): Column<T> => ({
  key,
  head,
  cell,
  ...(width !== undefined && { width }),
});

const effectTones: Readonly<Record<Inspection["effects"][number]["state"], Tone>> = {
  pending: "active",
  succeeded: "good",
  failed: "warn",
  unknown: "danger",
};

const approvalTones: Readonly<Record<Inspection["approvals"][number]["status"], Tone>> = {
  pending: "active",
  approved: "good",
  rejected: "warn",
  expired: "warn",
  withdrawn: "idle",
};

const approvals: readonly Column<Inspection["approvals"][number]>[] = [
  column("status", "Status", ({ status }) => <Badge tone={approvalTones[status]}>{status}</Badge>, "8rem"),
  column("subject", "About", ({ subject, task }) => `${subject} (${task})`),
  column("due", "Due", ({ dueAtMs }) => <Instant ms={dueAtMs} />, "10rem"),
  column(
    "token",
    "Its answer",
    ({ status, toldAtMs, waiting }) =>
      status === "pending"
        ? waiting
          ? "the run waits"
          : "nobody waits"
        : toldAtMs === null
          ? "on its way"
          : "told",
    "9rem",
  ),
];

const effects: readonly Column<Inspection["effects"][number]>[] = [
  column("state", "State", ({ state }) => <Badge tone={effectTones[state]}>{state}</Badge>, "8rem"),
  column("call", "Call", ({ provider, operation }) => `${provider}: ${operation}`, "14rem"),
  column("key", "Key", ({ key }) => key),
  column("id", "", ({ id }) => <Link href={`/effects?effect=${id}`}>See it</Link>, "6rem"),
];

const commands: readonly Column<Inspection["commands"][number]>[] = [
  column("key", "Command", ({ key }) => key),
  column("outcome", "Outcome", ({ outcome }) => outcome, "9rem"),
  column("at", "At", ({ createdAtMs }) => <Instant ms={createdAtMs} />, "10rem"),
];

const outbox: readonly Column<Inspection["outbox"][number]>[] = [
  column("state", "State", ({ state }) => state, "8rem"),
  column("target", "Target", ({ target }) => target, "14rem"),
  column("type", "Type", ({ type, key }) => `${type ?? "–"} ${key ?? ""}`),
  column("failure", "Last failure", ({ failure }) => failure ?? <span className="zero">–</span>),
];

const reservations: readonly Column<Inspection["reservations"][number]>[] = [
  column("state", "State", ({ state }) => state, "8rem"),
  column("what", "What", ({ kind, resource }) => `${kind}: ${resource}`),
  column("holder", "Holder", ({ holder }) => holder, "14rem"),
  column("until", "Until", ({ expiresAtMs }) => <Instant ms={expiresAtMs} />, "10rem"),
];

const isBare = ({
  commands: done,
  outbox: told,
  effects: called,
  reservations: held,
  approvals: asked,
}: Inspection) => done.length + told.length + called.length + held.length + asked.length === 0;

export default function Evidence({ run }: { readonly run: RunView }) {
  const isRunning = run.execution.status === "RUNNING";
  const read = useRead("run.evidence", { arn: run.execution.arn }, { everyMs: isRunning ? 4000 : 15_000 });
  const found = read.data?.value;
  if (read.error) return <Failure error={read.error} />;
  if (!found) return null;
  return (
    <div className="evidence">
      <SideBySide run={run} inspection={found} />
      <Facts title="Questions to people" rows={found.approvals} columns={approvals} keyOf={({ id }) => id} />
      <Facts title="Side effects" rows={found.effects} columns={effects} keyOf={({ id }) => id} />
      <Facts title="Reservations" rows={found.reservations} columns={reservations} keyOf={({ id }) => id} />
      <Facts title="Announcements" rows={found.outbox} columns={outbox} keyOf={({ id }) => id} />
      <Facts title="Commands" rows={found.commands} columns={commands} keyOf={({ key }) => key} />
      {isBare(found) && (
        <Empty title="It has left nothing behind.">
          No command, announcement, side effect, reservation or question to a person bears its name.
        </Empty>
      )}
      {!isRunning && found.findings.length > 0 && (
        <section className="card" aria-label="If it were redriven">
          <header>
            <h2>If it were redriven</h2>
            <Badge tone={verdictTones[found.verdict]}>{found.verdict}</Badge>
          </header>
          <div className="inside">
            <Findings findings={found.findings} />
          </div>
        </section>
      )}
    </div>
  );
}

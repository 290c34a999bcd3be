// Who shares the queue: what waits and runs of each tenant, what it may take, and whether its breaker holds it.
import type { TenantView } from "../../../api/index.ts";
import { useRead } from "../../api/hooks.ts";
import { Badge } from "../../furniture/badge.tsx";
import { Count } from "../../furniture/count.tsx";
import { Table, type Column } from "../../furniture/table.tsx";
import { Age, Instant } from "../../furniture/time.tsx";

const percent = (share: number): string => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;

const Limit = ({ value }: { readonly value: number | null }) =>
  value === null ? <span className="muted">–</span> : <Count value={value} />;

function Breaker({ tenant: { state, standsUntilMs, failures } }: { readonly tenant: TenantView }) {
  if (state === "stands_still")
    return (
      <span className="row">
        <Badge tone="danger">Stands still</Badge> until <Instant ms={standsUntilMs!} />
      </span>
    );
  if (state === "on_trial") return <Badge tone="warn">One at a time</Badge>;
  return <Badge tone="good">{failures > 0 ? `Runs, ${failures} failed in a row` : "Runs"}</Badge>;
}

const columns: readonly Column<TenantView>[] = [
  { key: "tenant", head: "Tenant", cell: ({ tenant }) => <strong>{tenant}</strong> },
  {
    key: "ready",
    head: "Ready",
    width: "6rem",
    align: "right",
    cell: ({ ready }) => <Count value={ready} />,
  },
  {
    key: "oldest",
    head: "Oldest",
    width: "7rem",
    align: "right",
    wideOnly: true,
    cell: ({ oldestAgeMs }) => <Age ms={oldestAgeMs} />,
  },
  {
    key: "inFlight",
    head: "In flight",
    width: "6rem",
    align: "right",
    cell: ({ inFlight }) => <Count value={inFlight} />,
  },
  {
    key: "cap",
    head: "Cap",
    width: "5rem",
    align: "right",
    cell: ({ concurrency }) => <Limit value={concurrency} />,
  },
  {
    key: "share",
    head: "Share",
    width: "5.5rem",
    align: "right",
    wideOnly: true,
    cell: ({ share }) => (share === null ? <span className="muted">–</span> : percent(share)),
  },
  {
    key: "rate",
    head: "A second",
    width: "6rem",
    align: "right",
    wideOnly: true,
    cell: ({ perSecond }) => <Limit value={perSecond} />,
  },
  { key: "breaker", head: "Breaker", width: "20rem", cell: (tenant) => <Breaker tenant={tenant} /> },
];

/** Nothing where the queue has no tenants. */
export function Tenants({ queue }: { readonly queue: string }) {
  const tenants = useRead("queue.tenants", { queue }, { everyMs: 5000 }).data?.value;
  if (!tenants || tenants.length === 0) return null;
  return (
    <section className="card" aria-label="Tenants">
      <header>
        <h2>Tenants</h2>
        <span className="muted">
          The {tenants.length === 1 ? "one" : tenants.length} with most to wait for
        </span>
      </header>
      <Table label="Tenants" rows={tenants} columns={columns} keyOf={({ tenant }) => tenant} />
    </section>
  );
}

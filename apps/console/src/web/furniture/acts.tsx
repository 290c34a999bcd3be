// What people did to one thing, with who and why.
import { Link } from "wouter";
import type { AuditRecord } from "../../api/index.ts";
import { usePages } from "../api/hooks.ts";
import { List } from "./list.tsx";
import type { Column } from "./table.tsx";
import { Instant } from "./time.tsx";

const columns: readonly Column<AuditRecord>[] = [
  { key: "at", head: "When", width: "10.5rem", cell: ({ atMs }) => <Instant ms={atMs} /> },
  { key: "actor", head: "Who", width: "9rem", cell: ({ actor }) => <strong>{actor}</strong> },
  { key: "action", head: "Did", width: "12rem", cell: ({ action }) => <code>{action}</code> },
  { key: "reason", head: "Why", cell: ({ reason }) => reason || <span className="zero">–</span> },
];

/** The audit of a subject, such as `service storefront`. */
export function Acts({ subject }: { readonly subject: string }) {
  const acts = usePages("audit", { subject }, { everyMs: 5000 });
  return (
    <section className="card" aria-label="Who did what">
      <header>
        <h2>Who did what</h2>
        <Link href={`/audit?subject=${encodeURIComponent(subject)}`}>In the audit</Link>
      </header>
      <List
        label="Acts"
        list={acts}
        columns={columns}
        keyOf={({ id }) => id}
        empty={["Nobody did anything to it."]}
      />
    </section>
  );
}

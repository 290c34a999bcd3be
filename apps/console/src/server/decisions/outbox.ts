import { listParked, type ParkedRow } from "tuntas/outbox";
import type { Decision } from "../../api/index.ts";
import { counted, pageAt, type Look } from "./decision.ts";

const rowsMax = 1000;

function decisionOf(name: string, rows: readonly ParkedRow[], nowMs: number): Decision {
  const [first] = rows as [ParkedRow, ...ParkedRow[]];
  return {
    id: `outbox:${name}`,
    kind: "outbox",
    urgency: "now",
    title: `${counted(rows.length, "announcement")} to ${name} parked`,
    detail: `${first.failureCode}: ${first.failureMessage}`,
    owner: null,
    runbook: null,
    ageMs: Math.max(0, nowMs - Math.min(...rows.map((row) => row.parkedAtMs))),
    action: { label: "Mend and put back", href: pageAt("/outbox", { target: name, state: "parked" }) },
  };
}

export const outbox: Look = {
  name: "parked announcements of the outbox",
  async find({ platform }) {
    const rows = await listParked(platform.database, { rowsMax });
    const byTarget = new Map<string, ParkedRow[]>();
    for (const row of rows) {
      const name = `${row.target.kind}:${row.target.name}`;
      byTarget.set(name, [...(byTarget.get(name) ?? []), row]);
    }
    const nowMs = platform.workflows.nowMs();
    return [...byTarget].map(([name, of]) => decisionOf(name, of, nowMs));
  },
};

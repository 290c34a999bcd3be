import { listParked, type ParkedRow } from "tuntas/outbox";
import type { Decision } from "../../api/index.ts";
import { grouped } from "../grouped.ts";
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
    owner: first.owner,
    runbook: first.runbook,
    ageMs: Math.max(0, nowMs - Math.min(...rows.map((row) => row.parkedAtMs))),
    action: { label: "Mend and put back", href: pageAt("/outbox", { target: name, state: "parked" }) },
  };
}

export const outbox: Look = {
  name: "parked announcements of the outbox",
  async find({ platform }) {
    const rows = await listParked(platform.database, { rowsMax });
    const nowMs = platform.workflows.nowMs();
    return [...grouped(rows, ({ target }) => `${target.kind}:${target.name}`)].map(([name, of]) =>
      decisionOf(name, of, nowMs),
    );
  },
};

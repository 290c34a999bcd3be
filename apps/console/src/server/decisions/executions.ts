import { defaultScope } from "tuntas/queue";
import type { Decision } from "../../api/index.ts";
import type { ConsolePlatform } from "../needs.ts";
import { counted, pageAt, type Look } from "./decision.ts";

type ExecutionSummary = Awaited<ReturnType<ConsolePlatform["workflows"]["observer"]["executions"]>>[number];

const rowsMax = 200;
/** Older failures are history, not decisions. */
const daySince = 86_400_000;

function decisionOf(machine: string, failed: readonly ExecutionSummary[], nowMs: number): Decision {
  const ages = failed.map(({ stoppedAtMs }) => nowMs - (stoppedAtMs ?? nowMs));
  return {
    id: `execution:${machine}`,
    kind: "execution",
    urgency: "soon",
    title: `${counted(failed.length, "execution")} of ${machine} failed`,
    detail: `In the last day; the latest is ${failed[0]!.name}`,
    owner: null,
    runbook: null,
    ageMs: Math.max(0, ...ages),
    action: { label: "Look before a redrive", href: pageAt("/workflows", { machine, status: "FAILED" }) },
  };
}

export const executions: Look = {
  name: "executions that failed within a day",
  async find({ platform: { workflows } }) {
    const nowMs = workflows.nowMs();
    const failed = await workflows.observer.executions(defaultScope, { status: "FAILED", limit: rowsMax });
    const lately = failed.filter(({ stoppedAtMs }) => nowMs - (stoppedAtMs ?? 0) < daySince);
    const machines = [...new Set(lately.map((each) => each.machine))];
    return machines.map((machine) =>
      decisionOf(
        machine,
        lately.filter((each) => each.machine === machine),
        nowMs,
      ),
    );
  },
};

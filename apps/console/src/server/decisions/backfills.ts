import type { BackfillReport, RunReport } from "tuntas/batch";
import type { Decision } from "../../api/index.ts";
import type { Needs } from "../needs.ts";
import { counted, pageAt, type Look } from "./decision.ts";

const rowsMax = 200;

type Said = Pick<Decision, "urgency" | "title" | "detail"> & {
  readonly label: string;
  readonly view?: string;
};

/** Undefined where no person has to do anything about it now. */
function saidOf(run: RunReport): Said | undefined {
  const { id, backfill, state, pause, sample, failure, failed, actor, read, records, reason } = run;
  const name = `Run ${id} of ${backfill}`;
  if (state === "sampled")
    return {
      urgency: "soon",
      title: `${name} waits for an approval by another than ${actor}`,
      detail: `${counted(records, "record")}, ${sample!.failed} of ${sample!.handled + sample!.failed} failed in its dry run: ${reason}`,
      label: "Look at the dry run",
    };
  if (pause === "person")
    return {
      urgency: "soon",
      title: `${name} is paused`,
      detail: `${read.toLocaleString("en")} of ${counted(records, "record")} read; nothing goes on until somebody resumes it`,
      label: "Look at it",
    };
  const isAborted = state === "aborted" && failure !== null;
  if (pause !== "trouble" && !isAborted) return undefined;
  return {
    urgency: "now",
    title: isAborted ? `${name} was aborted by trouble` : `${name} has stopped in trouble`,
    detail: failure ?? "Nobody noted why",
    label: isAborted ? "Mend, then plan again" : "Mend, then resume",
    ...(failed > 0 && { view: "failures" }),
  };
}

/** Since when it stands there. */
async function movedAtMs({ access }: Needs["platform"], { id, state, askedAtMs }: RunReport) {
  const [move] = await access.record({ subject: `run ${id}`, action: `backfill.${state}` }, { limit: 1 });
  return move?.atMs ?? askedAtMs;
}

async function decisionOf(
  platform: Needs["platform"],
  { run, said }: { readonly run: RunReport; readonly said: Said },
  { owner, runbook }: BackfillReport,
): Promise<Decision> {
  const { label, view, ...told } = said;
  return {
    ...told,
    id: `backfill:${run.id}`,
    kind: "backfill",
    owner,
    runbook,
    ageMs: Math.max(0, platform.workflows.nowMs() - (await movedAtMs(platform, run))),
    action: { label, href: pageAt(`/backfills/${run.id}`, { view }) },
  };
}

/** Of aborted runs only the latest of a backfill counts: what was planned since is what was done about it. */
async function candidatesOf({ backfills }: Needs["platform"], all: readonly BackfillReport[]) {
  const [waiting, ...latest] = await Promise.all([
    backfills.runs({ states: ["sampled", "paused"], limit: rowsMax }),
    ...all.map(({ name }) => backfills.runs({ backfill: name, limit: 1 })),
  ]);
  return [...waiting, ...latest.flat().filter(({ state }) => state === "aborted")];
}

export const backfills: Look = {
  name: "runs of backfills that wait for an approval or have stopped",
  async find({ platform }) {
    const all = await platform.backfills.list();
    if (all.length === 0) return [];
    const declared = new Map(all.map((each) => [each.name, each]));
    const found = (await candidatesOf(platform, all)).flatMap((run) => {
      const said = saidOf(run);
      return said ? [decisionOf(platform, { run, said }, declared.get(run.backfill)!)] : [];
    });
    return Promise.all(found);
  },
};

// Backfills: their runs, what a dry run found, and what people say to one, as JSON.
import { may, type Who } from "tuntas/access";
import { runStates, type BackfillReport, type RunReport } from "tuntas/batch";
import type { BackfillActs, BackfillReads } from "../../api/index.ts";
import type { ActsOf, Needs, ReadsOf } from "../needs.ts";
import { paged } from "./queues.ts";

const pageMax = 200;
const partitionsMax = 1000;
const perSecondMax = 1_000_000_000;
const said = ["dry-run", "start", "pause", "resume", "abort", "verify", "rollback"] as const;

/**
 * A run as the role may see it: nobody declares what is sensitive in the records of a table, so their values are for those
 * who decide about them.
 */
function seenBy({ role }: Who, run: RunReport): RunReport {
  if (run.sample === null || may(role, "batch.change") || may(role, "operation.approve")) return run;
  return { ...run, sample: { ...run.sample, changes: [] } };
}

/** Undo is there where it is declared. */
const sayable = ({ verbs }: RunReport, { policy }: BackfillReport) =>
  verbs.filter((verb) => verb !== "rollback" || policy.undo);

export function backfillReads(needs: Needs): ReadsOf<keyof BackfillReads> {
  const { backfills, access, workflows } = needs.platform;
  return {
    async backfills(_query, who) {
      const all = await backfills.list();
      const latest = await Promise.all(all.map(({ name }) => backfills.runs({ backfill: name, limit: 1 })));
      return all.map((each, at) => ({
        ...each,
        latest: latest[at]![0] ? seenBy(who, latest[at]![0]) : null,
      }));
    },
    async "backfill.runs"(query, who) {
      const state = query.choice("state", runStates);
      const rows = await backfills.runs({
        backfill: query.optional("backfill"),
        before: query.optionalId("after"),
        limit: pageMax + 1,
        ...(state && { states: [state] }),
      });
      return paged(
        rows.map((row) => seenBy(who, row)),
        pageMax,
        (last) => last.id,
      );
    },
    async "backfill.run"(query, who) {
      const run = await backfills.run(query.id("id"));
      const [all, [lastAct]] = await Promise.all([
        backfills.list(),
        access.record({ subject: `run ${run.id}`, action: `backfill.${run.state}` }, { limit: 1 }),
      ]);
      const declared = all.find(({ name }) => name === run.backfill)!;
      return {
        ...seenBy(who, run),
        verbs: sayable(run, declared),
        declared,
        nowMs: workflows.nowMs(),
        lastAct: lastAct ?? null,
      };
    },
    "backfill.partitions": (query) => backfills.partitions(query.id("id"), partitionsMax),
    async "backfill.failures"(query) {
      const { id, sample, begunAtMs } = await backfills.run(query.id("id"));
      return begunAtMs === null && sample ? sample.failures : backfills.failures(id);
    },
  };
}

export function backfillActs({ platform: { backfills } }: Needs): ActsOf<keyof BackfillActs> {
  return {
    "backfill.say": {
      may: "batch.change",
      run: (body, { name: by }) =>
        backfills.say(body.oneOf("verb", said), body.id("id"), { by, reason: body.text("reason") }),
    },
    "backfill.approve": {
      may: "operation.approve",
      run: (body, { name: by }) =>
        backfills.say("approve", body.id("id"), { by, reason: body.text("reason") }),
    },
    "backfill.rate": {
      may: "batch.change",
      run(body, { name: by }) {
        const perSecond = body.whole("perSecond", { min: 1, max: perSecondMax });
        return backfills.setRate(body.id("id"), perSecond, { by, reason: body.text("reason") });
      },
    },
  };
}

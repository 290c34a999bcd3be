import type { RunReport } from "tuntas/batch";
import { elapsed, instant, table } from "../../render.ts";

const stateText = ({ state, pause }: RunReport): string => (pause === null ? state : `${state} (${pause})`);

const doneText = ({ read, records }: RunReport): string =>
  records === 0 ? "" : `${read} of ${records} (${Math.min(100, Math.floor((read / records) * 100))} %)`;

export const leftText = ({ leftMs }: RunReport): string =>
  leftMs === null ? "" : `about ${elapsed(leftMs)}`;

/** The rate that it takes, and why it is not all that it may take. */
export const rateText = ({ perSecond, pace, databaseMs, downstreamMs }: RunReport): string => {
  if (pace >= 1) return `${perSecond}/s`;
  const slow = [
    databaseMs === null ? "" : `database ${elapsed(databaseMs)}`,
    downstreamMs === null ? "" : `downstream ${elapsed(downstreamMs)}`,
  ].filter(Boolean);
  return `${Math.max(1, Math.round(perSecond * pace))}/s of ${perSecond}/s (${slow.join(", ")})`;
};

export const runTable = (runs: readonly RunReport[]): string =>
  table(runs, {
    RUN: (each) => each.id,
    BACKFILL: (each) => each.backfill,
    SCOPE: (each) => each.scope,
    STATE: stateText,
    READ: doneText,
    FAILED: (each) => each.failed,
    RATE: rateText,
    LEFT: leftText,
    ASKED: (each) => instant(each.askedAtMs),
    BY: (each) => each.actor,
    WHY: (each) => each.failure ?? each.reason,
  });

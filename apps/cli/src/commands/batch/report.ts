import type { JobReport } from "tuntas/batch";
import { elapsed, instant, table } from "../../render.ts";

const percent = ({ partitions: { done, total } }: JobReport): string =>
  total === 0 ? "" : `${done} of ${total} (${Math.floor((done / total) * 100)} %)`;

export const leftText = ({ leftMs }: JobReport): string =>
  leftMs === null ? "" : `about ${elapsed(leftMs)}`;

export const jobTable = (jobs: readonly JobReport[]): string =>
  table(jobs, {
    JOB: (each) => each.id,
    BATCH: (each) => each.batch,
    STATE: (each) => each.state,
    DONE: percent,
    FAILED: (each) => each.partitions.failed,
    ROWS: (each) => each.rows,
    LEFT: leftText,
    ASKED: (each) => instant(each.askedAtMs),
    BY: (each) => each.actor,
    WHY: (each) => each.failure ?? each.reason,
  });

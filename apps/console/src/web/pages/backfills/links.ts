import type { RunState } from "../../../api/index.ts";

export const runHref = (id: string): string => `/backfills/${id}`;
/** The runs of a backfill; of one state where one is named. */
export const runsHref = (backfill: string, state?: RunState): string =>
  `/backfills?view=runs&backfill=${encodeURIComponent(backfill)}${state ? `&state=${state}` : ""}`;

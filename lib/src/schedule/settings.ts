// A schedule as the database keeps it, whether code declares it or it was arranged over the wire.
import type { Order } from "../engine/destination.ts";
import type { Arranged, Arrangement, RetryPolicy } from "./contract.ts";
import { nameOf } from "./place.ts";

export interface ScheduleSettings extends RetryPolicy {
  readonly name: string;
  readonly account: string;
  readonly region: string;
  readonly group: string;
  readonly expression: string;
  readonly timeZone: string;
  readonly startsMs: number | null;
  readonly endsMs: number | null;
  readonly flexibleMs: number;
  readonly targetKind: string;
  readonly targetName: string;
  readonly input: string;
  readonly isTemplate: boolean;
  readonly extras: string;
  readonly overlap: string;
  readonly catchUp: "skip" | "latest" | "all";
  readonly catchUpWithinMs: number;
  readonly succeedsWithinMs: number | null;
  readonly retentionMs: number;
  readonly deadLetter: string | null;
  /** JSON text. */
  readonly holidays: string | null;
  readonly afterwards: "keep" | "remove";
  readonly owner: string | null;
  readonly runbook: string | null;
  readonly description: string | null;
  readonly request: string | null;
}

const retentionMs = 30 * 86_400_000;

/** With EventBridge's ways: side by side, and what nobody was there for is made up for as long as it would be tried. */
export function settingsOfArrangement({ place, target, extras, ...rest }: Arrangement): ScheduleSettings {
  const { account, region, group } = place;
  const { enabled: _, ...said } = rest;
  return {
    ...said,
    name: nameOf(place),
    account,
    region,
    group,
    targetKind: target.kind,
    targetName: target.name,
    isTemplate: true,
    extras: JSON.stringify(extras),
    overlap: "allow",
    catchUp: "all",
    catchUpWithinMs: rest.retryWithinMs,
    succeedsWithinMs: null,
    retentionMs,
    holidays: null,
    owner: null,
    runbook: null,
  };
}

export interface ArrangedRow extends ScheduleSettings {
  readonly pausedAtMs: number | null;
  readonly createdAtMs: number;
  readonly changedAtMs: number;
}

export function arrangedOf(row: ArrangedRow): Arranged {
  const { account, region, group, name } = row;
  return {
    place: { account, region, group, name: name.slice(name.lastIndexOf("/") + 1) },
    expression: row.expression,
    timeZone: row.timeZone,
    target: { kind: row.targetKind, name: row.targetName },
    input: row.input,
    extras: JSON.parse(row.extras) as Partial<Order>,
    startsMs: row.startsMs,
    endsMs: row.endsMs,
    flexibleMs: row.flexibleMs,
    retriesMax: row.retriesMax,
    retryWithinMs: row.retryWithinMs,
    deadLetter: row.deadLetter,
    afterwards: row.afterwards,
    enabled: row.pausedAtMs === null,
    description: row.description,
    request: row.request,
    declared: row.owner !== null,
    createdAtMs: row.createdAtMs,
    changedAtMs: row.changedAtMs,
  };
}

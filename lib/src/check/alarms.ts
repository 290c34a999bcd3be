// Whether everything still has the alarms that its kind brings along: each queue, workflow, target and lease is watched by
// shipped ones, unless a declared one of the same name takes the place of one and watches less.
import { shippedAlarms, type AlarmDefinition } from "../alarm/index.ts";
import type { Declared, Sighting } from "./contract.ts";

const shipped = new Map(shippedAlarms.map((alarm) => [alarm.name, alarm.options.metric]));

/** What the alarm leaves unwatched of what the shipped one of its name watches; undefined where it is nothing. */
function leftOut({ name, options: { metric } }: AlarmDefinition): string | undefined {
  const before = shipped.get(name);
  if (!before) return undefined;
  if (metric.name !== before.name) return `it watches ${metric.name} and not ${before.name}`;
  const narrower = Object.entries(metric.labels ?? {}).filter(([label]) => !(label in (before.labels ?? {})));
  if (narrower.length === 0) return undefined;
  return `it watches ${narrower.map(([label, value]) => `${label} ${value}`).join(", ")} alone`;
}

export const checkAlarms = ({ alarms }: Declared): Sighting[] =>
  alarms.flatMap((alarm) => {
    const left = leftOut(alarm);
    if (left === undefined) return [];
    const { name } = alarm;
    const message = `alarm ${name}: it takes the place of the shipped one, and ${left}; the rest has no such alarm`;
    return [{ rule: "alarm-narrowed" as const, name, place: undefined, message }];
  });

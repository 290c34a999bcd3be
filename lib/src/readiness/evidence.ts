// How items are looked at: by the rules of `tuntas check`, by drills that were run, by alarms that are there. No rule is written twice.
import type { RuleId } from "../check/index.ts";
import { shippedAlarms } from "../alarm/index.ts";
import type { Evidence, Facts } from "./contract.ts";

export const met = (looked: string, found: string): Evidence => ({ verdict: "met", looked, found });
export const unmet = (looked: string, found: string): Evidence => ({ verdict: "unmet", looked, found });
export const unknown = (looked: string, found: string): Evidence => ({ verdict: "unknown", looked, found });

/** Met where none of the rules is broken by what has that name; `found` is what stands there then. */
export function byRules(
  { findings }: Facts,
  {
    name,
    rules,
    found,
  }: { readonly name: string; readonly rules: readonly RuleId[]; readonly found: string },
): Evidence {
  const broken = findings.filter((finding) => finding.name === name && rules.includes(finding.rule));
  const looked = `tuntas check: ${rules.join(", ")}`;
  return broken.length === 0
    ? met(looked, found)
    : unmet(looked, broken.map(({ message }) => message).join("; "));
}

/** The newest report of any of these drills. */
export function byDrill({ drills }: Facts, names: readonly string[]): Evidence {
  const [newest] = drills
    .filter(({ drill }) => names.includes(drill))
    .toSorted((a, b) => b.startedAt.localeCompare(a.startedAt));
  const looked = "reports of tuntas drill";
  if (!newest) return unmet(looked, `none here; run tuntas drill ${names[0]}`);
  const said = `${newest.drill} on ${newest.startedAt.slice(0, 10)}`;
  return newest.asExpected ? met(looked, `${said}, as expected`) : unmet(looked, `${said}, NOT as expected`);
}

/** That a declared or shipped alarm watches the metric of what has that name, and what the database says of it now. */
export function byAlarm(
  { declared, alarms }: Facts,
  { metric, subject }: { readonly metric: string; readonly subject: string },
): Evidence {
  const looked = `alarms on ${metric}`;
  const own = new Set(declared.alarms.map(({ name }) => name));
  const watching = [...declared.alarms, ...shippedAlarms.filter(({ name }) => !own.has(name))].filter(
    ({ options }) =>
      options.metric.name === metric && [undefined, subject].includes(options.metric.labels?.queue),
  );
  if (watching.length === 0) return unmet(looked, "none");
  const names = watching.map(({ name }) => name);
  const firing = alarms.filter(
    (alarm) => names.includes(alarm.name) && alarm.subject.includes(subject) && alarm.state === "ALARM",
  );
  const now = firing.length === 0 ? "" : `; in alarm now: ${firing.map(({ name }) => name).join(", ")}`;
  return met(looked, `${names.join(", ")}${now}`);
}

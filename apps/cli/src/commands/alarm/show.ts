import { meantHint, type Platform } from "tuntas";
import {
  alarmErrors,
  conditionText,
  type AlarmChange,
  type AlarmDefinition,
  type AlarmOptions,
  type CheckedCheck,
} from "tuntas/alarm";
import { metricEntries } from "tuntas/measure";
import { defaultScope } from "tuntas/queue";
import type { Command } from "../../command.ts";
import { bold, facts, instant, table } from "../../render.ts";
import { withPlatform } from "../../session.ts";

const describeCheck = ({ number, text, value, unit, detail }: CheckedCheck): string => {
  const answer =
    value === null ? (detail.length === 0 ? "nothing" : "") : `${Math.round(value * 10) / 10} ${unit}`;
  return [
    `${String(number).padStart(2)}. ${text} ${answer}`.trimEnd(),
    ...detail.map((line) => `      ${line}`),
  ].join("\n");
};

const historyTable = (changes: readonly AlarmChange[]): string =>
  table(changes, {
    AT: (change) => instant(change.atMs),
    OF: (change) => change.subject,
    FROM: (change) => change.previous,
    TO: (change) => (change.test ? `${change.state} (a trial)` : change.state),
    WHY: (change) => change.reason,
  });

/** Whether it is there, by the label of a metric that names it: what is new is watched from its first sample on. */
const isThere: Readonly<Record<string, (platform: Platform, name: string) => Promise<boolean>>> = {
  queue: async ({ queues }, name) => (await queues.catalog.find(defaultScope, name)) !== undefined,
  workflow: async ({ workflows }, name) => (await workflows.machines.find(defaultScope, name)) !== undefined,
  schedule: async ({ schedules }, name) => (await schedules.list()).some((each) => each.name === name),
  stream: async ({ streams }, name) => (await streams.list()).some((each) => each.name === name),
  service: async ({ services }, name) => (await services.list()).some((each) => each.name === name),
};

async function isNew(platform: Platform, { metric }: AlarmOptions, subject: string): Promise<boolean> {
  const [label, ...others] = (metricEntries.get(metric.name)?.labels ?? []).filter(
    (each) => metric.labels?.[each] === undefined,
  );
  return others.length === 0 && (await isThere[label ?? ""]?.(platform, subject)) === true;
}

/** Errors: TUNTAS_ALARM_SUBJECT where the alarm watches nothing of that name. */
async function requireSubject(
  platform: Platform,
  { name, options }: AlarmDefinition,
  subject: string,
): Promise<void> {
  const all = await platform.alarms.list();
  const watched = all.filter((each) => each.name === name).map((each) => each.subject);
  if (subject === "" || watched.includes(subject) || (await isNew(platform, options, subject))) return;
  throw alarmErrors.error(
    "TUNTAS_ALARM_SUBJECT",
    `alarm ${name} watches nothing that is called ${JSON.stringify(subject)}${meantHint(subject, watched)}`,
  );
}

export const alarmShow: Command = {
  name: "alarm show",
  summary:
    "Shows an alarm: its bound, its runbook with live values, what the figures speak for, its history.",
  arguments: [
    { name: "ALARM", required: true },
    { name: "OF", required: false },
  ],
  examples: [
    ["tuntas alarm show oldest-message order-work", "the runbook of a backlog, answered for one queue"],
  ],
  no: "there is no such alarm, or it watches nothing of that name",
  run: (call) =>
    withPlatform(async (platform) => {
      const { alarms } = platform;
      const name = call.argument(0);
      const subject = call.positionals[1] ?? "";
      const definition = await alarms.definition(name);
      const { options } = definition;
      await requireSubject(platform, definition, subject);
      const runbook = await alarms.runbook(name, subject);
      const history = await alarms.history({ name, ...(subject !== "" && { subject }), limit: 20 });
      const head = facts({
        alarm: name,
        of: subject,
        metric: options.metric.name,
        when: conditionText(options),
        owner: runbook.owner,
        runbook: runbook.runbook,
      });
      const parts = [
        head,
        bold("Runbook"),
        runbook.checks.map(describeCheck).join("\n"),
        ...(runbook.suggestion === null ? [] : [`→ ${runbook.suggestion}`]),
        bold("History"),
        historyTable(history),
      ];
      return { document: { name, options, runbook, history }, text: parts.join("\n") };
    }),
};

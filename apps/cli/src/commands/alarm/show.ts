import { meantHint, type Platform } from "tuntas";
import { alarmErrors, conditionText, type AlarmChange, type CheckedCheck } from "tuntas/alarm";
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

/** Errors: TUNTAS_ALARM_SUBJECT where the alarm watches nothing of that name. */
async function requireSubject(alarms: Platform["alarms"], name: string, subject: string): Promise<void> {
  const watched = (await alarms.list()).filter((each) => each.name === name).map((each) => each.subject);
  if (subject === "" || watched.includes(subject)) return;
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
    withPlatform(async ({ alarms }) => {
      const name = call.argument(0);
      const subject = call.positionals[1] ?? "";
      const { options } = await alarms.definition(name);
      await requireSubject(alarms, name, subject);
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

// Declaring alarms, beside the work that they watch.
import { declaring } from "../core/place.ts";
import { toMs } from "../core/duration.ts";
import { isStorable } from "../core/text.ts";
import { unknownOptions, type NamesOf } from "../core/options.ts";
import { isText, type Finding, wrongName } from "../engine/findings.ts";
import type { AlarmDefinition, AlarmOptions, Condition, MetricChoice, Notify } from "./contract.ts";
import { alarmErrors } from "./contract.ts";

const nameForm = /^[a-z0-9][a-z0-9-]{0,79}$/;
const missingKinds = ["missing", "ignore", "breaching", "notBreaching"];
const statistics = ["max", "min", "average", "sum", "last", "growth"];

function wrongOf(value: Condition | undefined): Finding {
  const entries = Object.entries(value ?? {});
  const known = ["above", "atLeast", "below", "atMost"];
  if (entries.length === 1 && known.includes(entries[0]![0]) && Number.isFinite(entries[0]![1]))
    return undefined;
  return `when: expected one of ${known.join(", ")} with a number, got ${JSON.stringify(value)}`;
}

function wrongMetric(metric: MetricChoice | undefined): Finding {
  if (!isText(metric?.name)) return "metric: expected the name of a metric";
  const { statistic } = metric;
  if (statistic !== undefined && !statistics.includes(statistic))
    return `metric: expected a statistic of ${statistics.join(", ")}, got ${JSON.stringify(statistic)}`;
  return undefined;
}

function wrongCount(of: AlarmOptions["of"] | undefined): Finding {
  const [datapoints, periods] = of ?? [];
  const fits =
    Number.isInteger(datapoints) &&
    Number.isInteger(periods) &&
    datapoints! >= 1 &&
    periods! >= datapoints! &&
    periods! <= 60;
  return !fits && `of: expected [M, N] with 1 <= M <= N <= 60, got ${JSON.stringify(of)}`;
}

function wrongPeriod(period: AlarmOptions["period"]): Finding {
  const ms = toMs(period ?? "1m");
  return (
    (ms % 10_000 !== 0 || ms <= 0 || ms > 3_600_000) &&
    `period: expected a multiple of 10s up to 1h, got ${period}`
  );
}

function wrongNotify(notify: Notify): Finding {
  if ("webhook" in notify)
    return !URL.canParse(notify.webhook) && "notify: expected an address of the webhook";
  if ("command" in notify) return !isText(notify.command[0]) && "notify: expected a command";
  return !isText(notify.target?.kind) && "notify: expected a webhook, a command or a target";
}

const metricNames = { name: true, labels: true, statistic: true } as const;
const conditionNames = { above: true, atLeast: true, below: true, atMost: true } as const;
const optionNames: NamesOf<AlarmOptions> = {
  metric: metricNames,
  when: conditionNames,
  and: { metric: metricNames, when: conditionNames },
  of: true,
  missing: true,
  period: true,
  severity: true,
  owner: true,
  runbook: true,
  notify: { webhook: true, headers: true, command: true, target: true },
  checks: { text: true, metric: metricNames, over: true, unit: true },
};

function* findings(name: string, options: AlarmOptions): Generator<Finding> {
  yield* unknownOptions(options, optionNames);
  yield wrongName(name, nameForm, "up to 80 lower-case letters, digits and hyphens");
  yield !isText(options.owner) && "owner: expected who acts on it";
  yield !isText(options.runbook) && "runbook: expected what they read first";
  yield wrongMetric(options.metric);
  yield wrongOf(options.when);
  if (options.and) {
    yield wrongMetric(options.and.metric);
    yield wrongOf(options.and.when);
  }
  yield wrongCount(options.of);
  yield (
    !missingKinds.includes(options.missing) &&
    `missing: expected one of ${missingKinds.join(", ")}, got ${JSON.stringify(options.missing)}`
  );
  yield wrongPeriod(options.period);
  yield !Array.isArray(options.notify) && "notify: expected a list, which may be empty";
  for (const each of options.notify ?? []) yield wrongNotify(each);
  yield !isStorable(JSON.stringify(options)) && "expected text without NUL or lone surrogates";
}

function declareAlarm(name: string, options: AlarmOptions): AlarmDefinition {
  for (const finding of findings(name, options ?? {}))
    if (finding) throw alarmErrors.error("TUNTAS_ALARM_OPTIONS", `alarm ${name}: ${finding}`);
  return { kind: "alarm", name, options };
}

/** Declares an alarm. Errors: TUNTAS_ALARM_OPTIONS. */
export const alarm = declaring(declareAlarm);

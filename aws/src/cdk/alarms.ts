// Alarms on CloudWatch: those that every queue and machine gets, and the declared ones whose metric AWS has as well.
import { Duration } from "aws-cdk-lib";
import {
  Alarm,
  ComparisonOperator,
  type IAlarmAction,
  type IMetric,
  MathExpression,
  Metric,
  TreatMissingData,
} from "aws-cdk-lib/aws-cloudwatch";
import type { Construct } from "constructs";
import { toMs, type AlarmDefinition } from "tuntas";
import { deadLetterNameOf } from "tuntas/queue/remote";
import { checkWithin, unsupported } from "./errors.ts";

/** Who acts, and what they read first. */
export interface Responsible {
  readonly owner: string;
  readonly runbook: string;
}

export const responsibleOf = ({ owner, runbook }: Responsible): Responsible => ({ owner, runbook });

export const described = ({ owner, runbook }: Responsible): string =>
  `Owner: ${owner}. Read first: ${runbook}.`;

const fiveMinutes = Duration.minutes(5);

export const queueMetric = (
  queueName: string,
  metricName: string,
  statistic = "Maximum",
  period = fiveMinutes,
): Metric =>
  new Metric({
    namespace: "AWS/SQS",
    metricName,
    dimensionsMap: { QueueName: queueName },
    statistic,
    period,
  });

export const machineMetric = (arn: string, metricName: string, period = fiveMinutes): Metric =>
  new Metric({
    namespace: "AWS/States",
    metricName,
    dimensionsMap: { StateMachineArn: arn },
    statistic: "Sum",
    period,
  });

export interface Watched extends Responsible {
  readonly name: string;
  readonly meaning: string;
  readonly metric: IMetric;
  readonly threshold: number;
  readonly comparison?: ComparisonOperator;
  readonly of?: readonly [datapoints: number, periods: number];
  readonly missing?: TreatMissingData;
}

/** Makes alarms that tell these. */
export type Watch = (scope: Construct, id: string, watched: Watched) => Alarm;

export const makeWatch =
  (actions: readonly IAlarmAction[]): Watch =>
  (scope, id, { name, meaning, metric, threshold, of: [datapoints, periods] = [1, 1], ...more }) => {
    const alarm = new Alarm(scope, id, {
      alarmName: name,
      alarmDescription: `${meaning} ${described(more)}`,
      metric,
      threshold,
      comparisonOperator: more.comparison ?? ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      datapointsToAlarm: datapoints,
      evaluationPeriods: periods,
      treatMissingData: more.missing ?? TreatMissingData.NOT_BREACHING,
    });
    alarm.addAlarmAction(...actions);
    alarm.addOkAction(...actions);
    return alarm;
  };

/** Dead letters wait for a person: that there are some, and that they have waited for half of the time they are kept. */
export function watchDeadLetters(
  scope: Construct,
  watch: Watch,
  { name, retentionSeconds, ...responsible }: Responsible & { name: string; retentionSeconds: number },
): void {
  watch(scope, "Depth", {
    name,
    meaning: `Dead letters wait in ${name}.`,
    metric: queueMetric(name, "ApproximateNumberOfMessagesVisible"),
    threshold: 1,
    ...responsible,
  });
  watch(scope, "Age", {
    name: `${name}-old`,
    meaning: `Dead letters in ${name} have waited for half of the time that they are kept.`,
    metric: queueMetric(name, "ApproximateAgeOfOldestMessage"),
    threshold: Math.floor(retentionSeconds / 2),
    ...responsible,
  });
}

/** Executions that ended in another way than well. */
export function watchExecutions(
  scope: Construct,
  watch: Watch,
  { name, arn, ...responsible }: Responsible & { name: string; arn: string },
): void {
  const endings = ["ExecutionsFailed", "ExecutionsTimedOut", "ExecutionsAborted"];
  const usingMetrics = Object.fromEntries(endings.map((each, at) => [`m${at}`, machineMetric(arn, each)]));
  watch(scope, "Failed", {
    name: `${name}-failed`,
    meaning: `Executions of ${name} failed, timed out or were aborted.`,
    metric: new MathExpression({
      expression: "m0 + m1 + m2",
      usingMetrics,
      label: "failed",
      period: fiveMinutes,
    }),
    threshold: 1,
    ...responsible,
  });
}

const statistics: Readonly<Record<string, string>> = {
  max: "Maximum",
  min: "Minimum",
  average: "Average",
  sum: "Sum",
};
const missings = {
  missing: TreatMissingData.MISSING,
  ignore: TreatMissingData.IGNORE,
  breaching: TreatMissingData.BREACHING,
  notBreaching: TreatMissingData.NOT_BREACHING,
};
const comparisons = {
  above: ComparisonOperator.GREATER_THAN_THRESHOLD,
  atLeast: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
  below: ComparisonOperator.LESS_THAN_THRESHOLD,
  atMost: ComparisonOperator.LESS_THAN_OR_EQUAL_TO_THRESHOLD,
};

/** What a metric of the application is called on CloudWatch; undefined where AWS has none. */
function metricOf({ options }: AlarmDefinition, period: Duration): Metric | undefined {
  const { name, labels = {}, statistic = "max" } = options.metric;
  const { queue, state = "ready" } = labels;
  const way = statistics[statistic];
  if (queue === undefined || way === undefined) return undefined;
  const of = (metric: string, from = queue) => queueMetric(from, metric, way, period);
  const states: Readonly<Record<string, string>> = {
    ready: "ApproximateNumberOfMessagesVisible",
    in_flight: "ApproximateNumberOfMessagesNotVisible",
    delayed: "ApproximateNumberOfMessagesDelayed",
  };
  if (name === "tuntas_queue_oldest_age_seconds") return of("ApproximateAgeOfOldestMessage");
  if (name === "tuntas_queue_depth" && states[state]) return of(states[state]);
  if (name === "tuntas_queue_dead_letters")
    return of("ApproximateNumberOfMessagesVisible", deadLetterNameOf(queue));
  return undefined;
}

/** A declared alarm. Errors: TUNTAS_DEPLOY_UNSUPPORTED. */
export function watchDeclared(scope: Construct, watch: Watch, alarm: AlarmDefinition): Alarm {
  const { name, options } = alarm;
  const what = `alarm ${name}`;
  const minutes = toMs(options.period ?? "1m") / 60_000;
  checkWithin(`${what}: period`, minutes, { min: 1, max: 60, unit: "minutes, in which SQS counts" });
  const metric = metricOf(alarm, Duration.minutes(minutes));
  if (!metric)
    throw unsupported(
      what,
      `CloudWatch has no ${options.metric.name}; expected tuntas_queue_depth, tuntas_queue_oldest_age_seconds or tuntas_queue_dead_letters with labels: { queue } and max, min, average or sum`,
    );
  if (options.and) throw unsupported(what, "expected one metric; a second one (`and`) is the application's");
  if (options.notify.length > 0)
    throw unsupported(
      what,
      "expected notify: []; on CloudWatch `alarmActions` of TuntasApp says who is told",
    );
  const [[way, threshold]] = Object.entries(options.when) as [[keyof typeof comparisons, number]];
  const [datapoints, periods] = options.of;
  return watch(scope, "Alarm", {
    name,
    meaning: `${options.metric.name} of ${options.metric.labels!.queue}.`,
    metric,
    threshold,
    comparison: comparisons[way],
    of: [datapoints, periods],
    missing: missings[options.missing],
    ...responsibleOf(options),
  });
}

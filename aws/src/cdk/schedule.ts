// A declared schedule as a schedule of EventBridge, which begins the work and knows nothing of how it ends. What only the
// application's own scheduler does (windows, overlap, catching up) is refused here.
import { Duration } from "aws-cdk-lib";
import { ComparisonOperator, type Metric, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { CfnSchedule } from "aws-cdk-lib/aws-scheduler";
import { CfnQueue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { toMs, type QueueDefinition, type ScheduleDefinition, type WorkflowDefinition } from "tuntas";
import { longestPauseMs } from "tuntas/schedule";
import {
  described,
  machineMetric,
  queueMetric,
  responsibleOf,
  watchDeadLetters,
  type Watch,
} from "./alarms.ts";
import { checkWithin, unsupported } from "./errors.ts";
import { DeclaredQueue, tagResponsible } from "./queue.ts";
import { roleFor, toSendOnly, toStartOnly } from "./rights.ts";
import { DeclaredWorkflow } from "./workflow.ts";

export interface DeclaredScheduleProps {
  readonly schedule: ScheduleDefinition;
  /** What it starts, as it is declared and as it is deployed. */
  readonly target: {
    readonly declared: QueueDefinition<any> | WorkflowDefinition<any>;
    readonly deployed: DeclaredQueue | DeclaredWorkflow;
  };
  /** The declared queue that is told of work that could not be begun; without it the schedule gets one of its own. */
  readonly deadLetter: DeclaredQueue | undefined;
  readonly watch: Watch;
}

/** What EventBridge fills in. */
const scheduledTime = "<aws.scheduler.scheduled-time>";
const inputOf = ({ name, options: { input = {} } }: ScheduleDefinition, scheduledAt: string) => ({
  ...input,
  schedule: name,
  scheduledAt,
});

function checkTime(what: string, { when, timeZone }: ScheduleDefinition["options"]): void {
  if (!/^(cron|rate)\(/.test(when))
    throw unsupported(what, `expected when as cron(…) or rate(…), which EventBridge has, got ${when}`);
  if (/^[+-]/.test(timeZone))
    throw unsupported(what, `expected timeZone by its name, such as Asia/Jakarta, got ${timeZone}`);
}

/** One that waits its turn does so in a FIFO queue; nothing else here knows what still runs. */
function checkOverlap(what: string, { options }: ScheduleDefinition): void {
  const { overlap, target } = options;
  if (overlap === "allow" || (overlap === "queue" && target.name.endsWith(".fifo"))) return;
  throw unsupported(
    what,
    `EventBridge does not know whether the last one still runs; expected overlap "allow", or "queue" into a FIFO queue, got "${overlap}"`,
  );
}

/** EventBridge gives a message no deduplication id. */
function checkFifo(what: string, { declared }: DeclaredScheduleProps["target"]): void {
  if (declared.kind === "queue" && declared.name.endsWith(".fifo") && !declared.options.contentDeduplication)
    throw unsupported(what, `expected contentDeduplication: true of its queue ${declared.name}`);
}

/** What it does not know. */
function checkMore(what: string, { holidays, deadLetter }: ScheduleDefinition["options"]): void {
  if (holidays) throw unsupported(what, "EventBridge knows no holidays");
  if (deadLetter?.name.endsWith(".fifo"))
    throw unsupported(what, `EventBridge puts dead letters into a standard queue, got ${deadLetter.name}`);
}

function windowOf(what: string, { flexible }: ScheduleDefinition["options"]) {
  if (flexible === undefined) return { mode: "OFF" };
  const maximumWindowInMinutes = toMs(flexible) / 60_000;
  checkWithin(`${what}: flexible`, maximumWindowInMinutes, { min: 1, max: 1440, unit: "minutes" });
  return { mode: "FLEXIBLE", maximumWindowInMinutes };
}

/** What is late by more than the one or the other says is let go. */
function retryPolicyOf(what: string, options: ScheduleDefinition["options"]) {
  const maximumEventAgeInSeconds = triedForSeconds(what, options);
  const { retry } = options;
  if (!retry) return { maximumEventAgeInSeconds, maximumRetryAttempts: 185 };
  const seconds = toMs(retry.within) / 1000;
  checkWithin(`${what}: retry.attempts`, retry.attempts, { min: 1, max: 186, unit: "attempts" });
  checkWithin(`${what}: retry.within`, seconds, { min: 60, max: 86_400, unit: "seconds" });
  return {
    maximumEventAgeInSeconds: Math.min(seconds, maximumEventAgeInSeconds),
    maximumRetryAttempts: retry.attempts - 1,
  };
}

/** For how long EventBridge tries: what is late by more is let go. */
function triedForSeconds(what: string, { catchUp }: ScheduleDefinition["options"]): number {
  if (catchUp === "skip") return 60;
  if ("latest" in catchUp)
    throw unsupported(
      what,
      `EventBridge tries each occurrence by itself; expected catchUp "skip" or { all: … }, got { latest: "${catchUp.latest}" }`,
    );
  const seconds = toMs(catchUp.all) / 1000;
  checkWithin(`${what}: catchUp.all`, seconds, { min: 60, max: 86_400, unit: "seconds" });
  return seconds;
}

/** The work is given no window: what needs one is fired by the application. */
function checkInput(what: string, { schedule, target: { declared } }: DeclaredScheduleProps): void {
  const schema = declared.kind === "queue" ? declared.options.message : declared.options.input;
  const result = schema?.["~standard"].validate(inputOf(schedule, new Date(0).toISOString()));
  if (result && "issues" in result && result.issues)
    throw unsupported(
      what,
      `EventBridge gives the work no \`window\`, and ${declared.kind} ${declared.name} does not take its input without one`,
    );
}

/** CloudWatch looks back so far. */
const lookBackHoursMax = 7 * 24;

/** So many hours without a success are too many. */
function overdueHours(what: string, schedule: ScheduleDefinition): number {
  const togetherMs = longestPauseMs(schedule) + toMs(schedule.options.succeedsWithin);
  const hours = Math.ceil(togetherMs / 3_600_000);
  if (hours <= lookBackHoursMax) return hours;
  throw unsupported(
    what,
    `CloudWatch looks back ${lookBackHoursMax} hours, but its longest pause and succeedsWithin are ${hours} together`,
  );
}

const successOf = (deployed: DeclaredQueue | DeclaredWorkflow, period: Duration): Metric =>
  deployed instanceof DeclaredQueue
    ? queueMetric(deployed.name, "NumberOfMessagesDeleted", "Sum", period)
    : machineMetric(deployed.arn, "ExecutionsSucceeded", period);

/** Errors: TUNTAS_DEPLOY_UNSUPPORTED. */
export class DeclaredSchedule extends Construct {
  constructor(scope: Construct, id: string, props: DeclaredScheduleProps) {
    super(scope, id);
    const { schedule, target, watch } = props;
    const { name, options } = schedule;
    const what = `schedule ${name}`;
    checkTime(what, options);
    checkOverlap(what, schedule);
    checkFifo(what, target);
    checkInput(what, props);
    checkMore(what, options);
    const [retryPolicy, flexibleTimeWindow] = [retryPolicyOf(what, options), windowOf(what, options)];
    const hours = overdueHours(what, schedule);
    const undelivered = props.deadLetter?.arn ?? this.makeUndelivered(props).attrArn;
    const { arn } = target.deployed;
    const begin = target.declared.kind === "queue" ? toSendOnly(arn) : toStartOnly(arn);
    const role = roleFor(this, "scheduler", [begin, toSendOnly(undelivered)]);
    new CfnSchedule(this, "Schedule", {
      name,
      description: described(options),
      scheduleExpression: options.when,
      scheduleExpressionTimezone: options.timeZone,
      flexibleTimeWindow,
      state: "ENABLED",
      target: {
        arn,
        roleArn: role.roleArn,
        input: JSON.stringify(inputOf(schedule, scheduledTime)),
        retryPolicy,
        deadLetterConfig: { arn: undelivered },
        ...(options.target.name.endsWith(".fifo") && { sqsParameters: { messageGroupId: name } }),
      },
    });
    watch(this, "Overdue", {
      name: `${name}-overdue`,
      meaning: `Nothing of ${options.target.kind} ${options.target.name} has succeeded in ${hours} hours.`,
      metric: successOf(target.deployed, Duration.hours(1)),
      threshold: 1,
      comparison: ComparisonOperator.LESS_THAN_THRESHOLD,
      of: [hours, hours],
      missing: TreatMissingData.BREACHING,
      ...responsibleOf(options),
    });
  }

  /** Where occurrences lie that could not be begun. */
  private makeUndelivered({ schedule: { name, options }, watch }: DeclaredScheduleProps): CfnQueue {
    const queueName = `${name}-undelivered`;
    const retentionSeconds = 14 * 86_400;
    const queue = new CfnQueue(this, "Undelivered", {
      queueName,
      messageRetentionPeriod: retentionSeconds,
      sqsManagedSseEnabled: true,
    });
    tagResponsible(queue, options);
    watchDeadLetters(queue, watch, { name: queueName, retentionSeconds, ...responsibleOf(options) });
    return queue;
  }
}

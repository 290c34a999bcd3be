// What AWS has no match for is refused, with what to do instead; never dropped.
import { ContainerImage } from "aws-cdk-lib/aws-ecs";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { alarm, isTuntasError, queue, schedule, service, stream, worker, workflow } from "tuntas";
import { expect, test } from "vitest";
import { z } from "zod";
import type { TuntasAppProps } from "./index.ts";
import { may, onAnything, rolesOf } from "./rights.fixture.ts";
import { templateOf, type Template } from "./stacks.fixture.ts";

const deadLetter = { after: 3, owner: "team", runbook: "runbooks/jobs.md", retention: "14d" } as const;
const jobs = queue("jobs", { message: z.looseObject({ schedule: z.string().optional() }), deadLetter });
const responsible = { owner: "team", runbook: "runbooks/nightly.md" } as const;

type Parts = Parameters<typeof templateOf>[0];
type Partial<T> = { readonly [K in keyof T]?: T[K] };

const nightly = (more: Partial<Parameters<typeof schedule>[1]> = {}): Parts => ({
  jobs,
  nightly: schedule("nightly", {
    when: "cron(0 2 * * ? *)",
    timeZone: "Asia/Jakarta",
    overlap: "allow",
    catchUp: { all: "2h" },
    target: jobs,
    succeedsWithin: "4h",
    ...responsible,
    ...more,
  }),
});

const late = queue("late.fifo", { ...jobs.options, contentDeduplication: true });
const nightlyInto = (target: typeof jobs): Parts => ({ target, ...nightly({ target, overlap: "queue" }) });

const old = (more: Partial<Parameters<typeof alarm>[1]> = {}): Parts => ({
  jobs,
  old: alarm("jobs-old", {
    metric: { name: "tuntas_queue_oldest_age_seconds", labels: { queue: "jobs" } },
    when: { above: 60 },
    of: [2, 3],
    missing: "ignore",
    notify: [],
    ...responsible,
    ...more,
  }),
});

const machine = (state: object, more: Partial<Parameters<typeof workflow>[1]> = {}): Parts => ({
  machine: workflow("Machine", {
    definition: { StartAt: "A", States: { A: { Type: "Task", End: true, ...state } } },
    ...more,
  } as Parameters<typeof workflow>[1]),
});
const tasks = { Own: () => null };
const workflows = { Machine: responsible };
const invoke = "arn:aws:states:::lambda:invoke";

const api = (more: Partial<Parameters<typeof service>[1]> = {}): Parts => ({
  api: service("api", {
    kind: "rest",
    run: { command: ["./api"] },
    port: { variable: "PORT" },
    cpu: { request: 256, limit: 256 },
    memory: { request: 256, limit: 512 },
    stopTimeout: "30s",
    healthCheck: { http: "/readyz", interval: "10s", timeout: "5s", retries: 3 },
    rollout: { minimumHealthyPercent: 100, maximumPercent: 200, circuitBreaker: { rollback: true } },
    scaling: { fixed: 1, because: "a trial" },
    ...more,
  }),
});
const image = ContainerImage.fromRegistry("api");
const services = { api: { works: [], sends: [], starts: [] } };

type Case = readonly [what: string, parts: Parts, props: Partial<TuntasAppProps>, says: RegExp];

const unsupported: readonly Case[] = [
  [
    "a delay of an hour",
    { q: queue("q", { ...jobs.options, delay: "1h" }) },
    {},
    /queue q: delay: .*0 to 900 seconds/,
  ],
  [
    "dead letters for a month",
    { q: queue("q", { ...jobs.options, deadLetter: { ...deadLetter, retention: "30d" } }) },
    {},
    /deadLetter.retention: .*1209600/,
  ],
  [
    "a worker's lock",
    { w: worker(jobs, { idempotencyKey: "none", timeout: "1s", lock: () => "a", handle() {} }) },
    {},
    /no lock; use a FIFO queue/,
  ],
  [
    "a stream",
    {
      s: stream("s", {
        record: z.object({}),
        key: "job: what happens to one",
        partitions: 1,
        retention: "1d",
        ...responsible,
      }),
    },
    {},
    /stream s: .*inDatabase: \["s"\]/,
  ],
  ["crontab's fields", nightly({ when: "0 2 * * *" }), {}, /expected when as cron\(…\) or rate\(…\)/],
  ["an offset for a zone", nightly({ timeZone: "+07:00" }), {}, /timeZone by its name/],
  [
    "overlap skip",
    nightly({ overlap: "skip", catchUp: "skip" }),
    {},
    /overlap "allow", or "queue" into a FIFO queue, got "skip"/,
  ],
  ["catching up the latest", nightly({ catchUp: { latest: "1d" } }), {}, /catchUp "skip" or \{ all: … \}/],
  [
    "catching up for a week",
    nightly({ catchUp: { all: "7d" } }),
    {},
    /catchUp.all: expected 60 to 86400 seconds/,
  ],
  ["holidays", nightly({ holidays: { dates: [], rule: "skip" } }), {}, /knows no holidays/],
  [
    "dead letters of a schedule in order",
    { late, ...nightly({ deadLetter: late }) },
    {},
    /dead letters into a standard queue, got late.fifo/,
  ],
  [
    "dead letters of a schedule into a queue that is not deployed",
    { late, ...nightly({ deadLetter: late }) },
    { inDatabase: ["late"] },
    /a queue that is deployed, got late/,
  ],
  ["half a minute", nightly({ flexible: "30s" }), {}, /flexible: expected 1 to 1440 minutes/],
  [
    "more tries than AWS has",
    nightly({ retry: { attempts: 187, within: "1h" } }),
    {},
    /retry.attempts: expected 1 to 186/,
  ],
  ["a year between two", nightly({ when: "cron(0 2 1 1 ? *)" }), {}, /looks back 168 hours/],
  [
    "work that needs its window",
    { ...nightly(), jobs: queue("jobs", { ...jobs.options, message: z.object({ window: z.object({}) }) }) },
    {},
    /no `window`/,
  ],
  [
    "a metric that CloudWatch has not",
    old({ metric: { name: "tuntas_workflow_running" } }),
    {},
    /CloudWatch has no tuntas_workflow_running/,
  ],
  [
    "a webhook of an alarm",
    old({ notify: [{ webhook: "https://example.com" }] }),
    {},
    /expected notify: \[\]/,
  ],
  [
    "an express workflow with own tasks",
    machine({ Resource: invoke, Parameters: { FunctionName: "Own" } }, { tasks, type: "EXPRESS" }),
    { workflows },
    /state A: express executions cannot wait/,
  ],
  [
    "a function by a computed name",
    machine({ Resource: invoke, Parameters: { "FunctionName.$": "$.f" } }, { tasks }),
    { workflows },
    /FunctionName as it is/,
  ],
  [
    "presence as health",
    api({ healthCheck: { presence: true, interval: "5s", timeout: "2s", retries: 3 } }),
    { services, image },
    /got presence/,
  ],
  [
    "half a second between probes",
    api({ healthCheck: { http: "/", interval: "500ms", timeout: "2s", retries: 3 } }),
    { services, image },
    /healthCheck.interval: expected 5 to 300 seconds/,
  ],
  [
    "a timeout as long as the interval",
    api({ healthCheck: { http: "/", interval: "5s", timeout: "5s", retries: 3 } }),
    { services, image },
    /timeout below the interval/,
  ],
  [
    "a load balancer that asks by TCP",
    api({ healthCheck: { tcp: true, interval: "5s", timeout: "2s", retries: 3 } }),
    { services, image },
    /asks by HTTP/,
  ],
  ["a daemon", api({ kind: "daemon" }), { services, image }, /no machines for one daemon each/],
  [
    "32 processors",
    api({ cpu: { request: 1, limit: 32_768 } }),
    { services, image },
    /at most 16384 CPU units/,
  ],
  [
    "a FIFO queue that asks for deduplication ids",
    nightlyInto(queue("jobs.fifo", jobs.options)),
    {},
    /contentDeduplication: true of its queue jobs.fifo/,
  ],
  [
    "a period of half a minute",
    old({ period: "30s" }),
    {},
    /alarm jobs-old: period: expected 1 to 60 minutes/,
  ],
  [
    "a handler that takes 13 hours",
    { w: worker(jobs, { idempotencyKey: "none", timeout: "13h", handle() {} }) },
    {},
    /visibilityTimeout: expected 0 to 43200 seconds/,
  ],
];

const unfit: readonly Case[] = [
  [
    "a message that comes out before its handler's time",
    {
      w: worker(queue("q", { ...jobs.options, visibilityTimeout: "10s" }), {
        idempotencyKey: "none",
        timeout: "1m",
        handle() {},
      }),
    },
    {},
    /queue q: VisibilityTimeout: expected at least 60/,
  ],
  [
    "a workflow that nobody answers for",
    machine({ Type: "Pass" }),
    {},
    /expected owner and runbook for Machine/,
  ],
  ["a service that nobody says the work of", api(), { image }, /expected works, sends and starts for api/],
  ["a service without an image", api(), { services }, /service api: expected an image/],
  [
    "work that is not deployed",
    api(),
    { image, services: { api: { ...services.api, works: [jobs] } } },
    /queue jobs: expected it among what is deployed/,
  ],
  ["an entry for what is not declared", { jobs }, { services }, /services: .*of which api is none/],
  ["a part in the database that is none", { jobs }, { inDatabase: ["job"] }, /inDatabase: .*got job/],
  [
    "a deployment's alarm that is not there",
    api({
      rollout: {
        minimumHealthyPercent: 100,
        maximumPercent: 200,
        circuitBreaker: "off",
        alarms: { names: ["old"], rollback: true },
      },
    }),
    { services, image },
    /of which old is none/,
  ],
  [
    "a service of AWS that nothing is said of",
    machine({ Resource: "arn:aws:states:::dynamodb:putItem", Parameters: { TableName: "t", Item: {} } }),
    { workflows },
    /say what the machine may do there/,
  ],
];

const refusal = (parts: Parts, props: Partial<TuntasAppProps>): unknown => {
  try {
    return templateOf(parts, props);
  } catch (cause) {
    return cause;
  }
};

test.each(unsupported)("refused as TUNTAS_DEPLOY_UNSUPPORTED: %s", (_, parts, props, says) => {
  const cause = refusal(parts, props);
  expect(isTuntasError(cause, "TUNTAS_DEPLOY_UNSUPPORTED"), String(cause)).toBe(true);
  expect((cause as Error).message).toMatch(says);
});

test.each(unfit)("refused as TUNTAS_DEPLOY_OPTIONS: %s", (_, parts, props, says) => {
  const cause = refusal(parts, props);
  expect(isTuntasError(cause, "TUNTAS_DEPLOY_OPTIONS"), String(cause)).toBe(true);
  expect((cause as Error).message).toMatch(says);
});

const typesOf = ({ Resources }: Template): string[] => [
  ...new Set(Object.values(Resources).map(({ Type }) => Type)),
];

test("what the application keeps in its database makes nothing on AWS; the rest goes on", () => {
  const kept = nightly({ overlap: "skip", catchUp: "skip" });
  expect(typesOf(templateOf(kept, { inDatabase: ["nightly"] }))).toEqual([
    "AWS::SQS::Queue",
    "AWS::CloudWatch::Alarm",
  ]);
});

test("a declared alarm and a schedule in its zone, with its retries and its dead letters", () => {
  const { Resources } = templateOf({ ...old(), ...nightly() });
  const of = (type: string) => Object.values(Resources).filter(({ Type }) => Type === type);
  expect(of("AWS::CloudWatch::Alarm").map(({ Properties }) => Properties)).toContainEqual(
    expect.objectContaining({
      AlarmName: "jobs-old",
      MetricName: "ApproximateAgeOfOldestMessage",
      Threshold: 60,
      EvaluationPeriods: 3,
      DatapointsToAlarm: 2,
      TreatMissingData: "ignore",
    }),
  );
  const [{ Properties: made }] = of("AWS::Scheduler::Schedule") as [(typeof Resources)[string]];
  expect(made).toMatchObject({
    ScheduleExpression: "cron(0 2 * * ? *)",
    ScheduleExpressionTimezone: "Asia/Jakarta",
    FlexibleTimeWindow: { Mode: "OFF" },
    Target: { RetryPolicy: { MaximumEventAgeInSeconds: 7200 } },
  });
  expect(JSON.stringify(made.Target.DeadLetterConfig)).toContain("Undelivered");
  const spread = nightly({ flexible: "10m", retry: { attempts: 4, within: "1h" } });
  expect(templateOf(spread).Resources).toSatisfy((resources: typeof Resources) =>
    Object.values(resources).some(
      ({ Properties }) =>
        Properties.FlexibleTimeWindow?.MaximumWindowInMinutes === 10 &&
        Properties.Target.RetryPolicy.MaximumRetryAttempts === 3 &&
        Properties.Target.RetryPolicy.MaximumEventAgeInSeconds === 3600,
    ),
  );
});

test("C-01: a scheduler may put into its target and into the queue of its dead letters, and do nothing else", () => {
  const gone = queue("late", { message: z.looseObject({}), deadLetter });
  const other = queue("other", { message: z.looseObject({}), deadLetter });
  for (const parts of [nightly(), { gone, other, ...nightly({ deadLetter: gone }) }]) {
    const template = templateOf(parts);
    const [role, ...more] = rolesOf(template);
    expect(more).toEqual([]);
    const queues = Object.entries(template.Resources).filter(({ 1: { Type } }) => Type === "AWS::SQS::Queue");
    const mine = "gone" in parts ? ["jobs", "late"] : ["jobs", "nightly-undelivered"];
    expect(queues.map(([, { Properties }]) => Properties.QueueName)).toEqual(expect.arrayContaining(mine));
    for (const [id, { Properties }] of queues) {
      const name = Properties.QueueName as string;
      expect(may(template, role!, "sqs:SendMessage", id), name).toBe(mine.includes(name));
      for (const action of ["ReceiveMessage", "DeleteMessage", "PurgeQueue", "SetQueueAttributes"])
        expect(may(template, role!, `sqs:${action}`, id), `${action} on ${name}`).toBe(false);
    }
    expect(onAnything(template, role!)).toEqual([]);
  }
  const { Resources } = templateOf({ gone, ...nightly({ deadLetter: gone }) });
  const made = Object.values(Resources).find(({ Type }) => Type === "AWS::Scheduler::Schedule")!.Properties;
  expect(JSON.stringify(made.Target.DeadLetterConfig)).toContain("lateQueue");
});

test("a Lambda function that is not the workflow's own is called as the document says, and nothing else may be", () => {
  const resource = "arn:aws:lambda:us-east-1:111122223333:function:theirs";
  const { Resources } = templateOf(machine({ Resource: resource }), { workflows });
  const of = (type: string) => Object.values(Resources).find(({ Type }) => Type === type)!.Properties;
  expect(JSON.parse(of("AWS::StepFunctions::StateMachine").DefinitionString).States.A.Resource).toBe(
    resource,
  );
  const [statement] = of("AWS::IAM::Role").Policies[0].PolicyDocument.Statement;
  expect(statement).toEqual({
    Effect: "Allow",
    Action: "lambda:InvokeFunction",
    Resource: [resource, `${resource}:*`],
  });
});

test("what the machine may do elsewhere is what its owner says", () => {
  const permissions = [
    new PolicyStatement({ actions: ["dynamodb:PutItem"], resources: ["arn:aws:dynamodb:::table/t"] }),
  ];
  const parts = machine({
    Resource: "arn:aws:states:::dynamodb:putItem",
    Parameters: { TableName: "t", Item: {} },
  });
  const template = templateOf(parts, { workflows: { Machine: { ...responsible, permissions } } });
  expect(JSON.stringify(template)).toContain("dynamodb:PutItem");
});

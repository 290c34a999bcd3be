import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { z } from "zod";
import {
  provider,
  reconciliation,
  timing,
  type MeasuredP99,
  type TimingDeclaration,
} from "../ledger/index.ts";
import { alarm, shippedAlarms, type AlarmDefinition, type AlarmOptions } from "../alarm/index.ts";
import { metricEntries } from "../measure/catalogue.ts";
import { endpoint } from "../outbox/declaration.ts";
import { queue, worker, type QueueOptions, type WorkerOptions } from "../queue/declaration.ts";
import type { Context } from "../queue/worker/context.ts";
import { backfill, batch } from "../batch/index.ts";
import { schedule } from "../schedule/index.ts";
import type { Scaling, ServiceOptions } from "../service/contract.ts";
import { service } from "../service/declaration.ts";
import type { HandlesEach } from "../stream/contract.ts";
import { consumer, stream } from "../stream/declaration.ts";
import { app } from "../app.ts";
import { workflow } from "../workflow/declaration.ts";
import { check, gather, rules, type Finding, type RuleId } from "./index.ts";

declare const axios: { post(url: string, body: unknown, options: object): Promise<unknown> };
declare const writeFile: (path: string, text: string) => Promise<void>;
declare const outcome: { rejected(because: object): never; retry(because: object): never };
declare const retried: (work: () => unknown, options: object) => Promise<unknown>;
declare const payments: { call(work: () => unknown): Promise<unknown> };
declare const mails: { send(mail: object): Promise<void> };
declare const events: { publish(event: object): Promise<void> };
declare const supervisors: { waitForDecision(id: string): Promise<void> };
declare const client: { query(sql: string, values?: unknown[]): Promise<void> };

const message = z.object({ orderId: z.string() });
type Order = z.infer<typeof message>;
type Handle = (order: Order, context: Context) => unknown;
const deadLetter = {
  after: 5,
  owner: "orders-team",
  runbook: "https://runbooks.example/orders",
  retention: "14d",
} as const;

interface Smell {
  readonly name?: string;
  readonly queue?: Partial<QueueOptions<typeof message>>;
  readonly worker?: Partial<WorkerOptions<typeof message>>;
  readonly handle?: Handle;
  readonly timing?: Omit<TimingDeclaration, "name">;
  readonly measured?: MeasuredP99;
}

/** A sound application with one thing changed. */
function findings(smell: Smell): Finding[] {
  const name = smell.name ?? "order-work";
  const of = queue(name, { message, visibilityTimeout: "30s", deadLetter, ...smell.queue });
  const work = worker(of, {
    idempotencyKey: (order) => order.orderId,
    timeout: "20s",
    globalConcurrency: 64,
    handle: smell.handle ?? (async (order, { tx }) => tx.query("select $1", [order.orderId])),
    ...smell.worker,
  });
  const times = smell.timing && timing({ name, ...smell.timing });
  const measured = new Map(smell.measured ? [[name, smell.measured]] : []);
  return check({ ...gather([{ file: "/nowhere.mjs", exports: { of, work, times } }]), measured });
}

const smells: readonly (readonly [RuleId, string, Smell, RegExp])[] = [
  [
    "time-ladder",
    "P-32 a lease as long as its heartbeat",
    { timing: { lease: "2m", heartbeat: "2m" } },
    /lease of 2 min.*heartbeat of 2 min/,
  ],
  [
    "visibility-budget",
    "W-21 W-23 30 s for work of 2 min",
    { timing: { p99: "2m", downstream: "10s", retries: "5s" } },
    /30 s is shorter than the 136 s .*p99 2 min \+ downstream 10 s \+ retries 5 s \+ margin 1 s/,
  ],
  [
    "visibility-budget",
    "W-21 Q-20 a declared p99 that fits, and a measured one that does not",
    { timing: { p99: "20s", downstream: "5s" }, measured: { p99Ms: 26_909, attempts: 1200 } },
    /30 s is shorter than the 32.909 s .*p99 26.909 s \+ downstream 5 s .*measured p99 26.909 s over 1200 attempts, declared 20 s/,
  ],
  [
    "p99-exceeded",
    "Q-20 a handler that takes longer than whoever set its times believed",
    { timing: { p99: "2s" }, measured: { p99Ms: 4757, attempts: 1200 } },
    /declared as 2 s, and was 4.8 s over 1200 attempts/,
  ],
  [
    "visibility-far-above",
    "W-23 12 h for 10 s",
    { queue: { visibilityTimeout: "12h" }, timing: { p99: "10s" } },
    /12 h is 4320 times the 10 s/,
  ],
  [
    "drain-too-short",
    "W-39 a stop shorter than normal work",
    { queue: { visibilityTimeout: "2m" }, timing: { p99: "60s" } },
    /25 s.*60 s/,
  ],
  [
    "retries-outlive-retention",
    "a message that expires before it is dead",
    { queue: { retention: "10m", deadLetter: { ...deadLetter, after: 10 } } },
    /10 attempts can take .* kept 10 min/,
  ],
  [
    "dead-letters-expire-first",
    "dead letters kept no longer than messages",
    { queue: { retention: "14d" } },
    /14 d.*14 d/,
  ],
  [
    "multiplied-retries",
    "W-24 five tries inside, and the queue's own",
    {
      async handle(order, { tx }) {
        for (let attempt = 0; attempt < 5; attempt++) {
          try {
            return await tx.query("select $1", [order.orderId]);
          } catch {
            continue;
          }
        }
        return undefined;
      },
    },
    /5 × 5 = 25 attempts/,
  ],
  [
    "multiplied-retries",
    "W-24 a library that retries",
    { handle: (order, { tx }) => retried(() => tx.query("select $1", [order.orderId]), { retries: 2 }) },
    /3 × 5 = 15 attempts/,
  ],
  [
    "label-without-bound",
    "K-09 an order's id in the code of an outcome",
    { handle: (order) => outcome.rejected({ code: `NO_STOCK_${order.orderId}`, message: "none left" }) },
    /order-work: the code of outcome\.rejected\(…\) is put together from data \("NO_STOCK_ " and what is put in\)/,
  ],
  [
    "label-without-bound",
    "K-09 a code that is added up",
    { handle: (order) => outcome.retry({ code: "LATER_" + order.orderId }) },
    /put together from data$/,
  ],
  [
    "endless-retry",
    "W-39 a hundred attempts",
    { queue: { deadLetter: { ...deadLetter, after: 100 } } },
    /100 times, for up to .* h/,
  ],
  [
    "ack-before-commit",
    "W-25 a query that nobody waits for",
    {
      handle(order, { tx }) {
        void tx.query("select $1", [order.orderId]);
      },
    },
    /does not wait for tx\.query/,
  ],
  [
    "ack-before-commit",
    "W-25 work in forEach with an async function",
    {
      handle(order, { tx }) {
        [order].forEach(async ({ orderId }) => {
          await tx.query("select $1", [orderId]);
        });
      },
    },
    /does not wait for tx\.query/,
  ],
  [
    "ack-before-commit",
    "W-25 a promise that is only caught",
    {
      handle(order, { log }) {
        mails.send(order).catch((cause: unknown) => log.warn({ cause }, "no mail"));
      },
    },
    /does not wait for mails\.send/,
  ],
  [
    "no-idempotency",
    "W-25 no key and a write",
    { worker: { idempotencyKey: "none" } },
    /"none".*1 calls.*tx\.query/,
  ],
  [
    "key-same-for-all",
    "one key for all",
    { worker: { idempotencyKey: () => "order" } },
    /same idempotency key/,
  ],
  [
    "key-never-same",
    "a random key",
    { worker: { idempotencyKey: (order) => `${order.orderId}-${crypto.randomUUID()}` } },
    /crypto\.randomUUID/,
  ],
  [
    "key-never-same",
    "a clock as key",
    { worker: { idempotencyKey: (order) => `${order.orderId}-${new Date().toISOString()}` } },
    /Date/,
  ],
  [
    "effect-off-the-ledger",
    "a payment that leaves no row",
    {
      handle: async (order, { signal }) =>
        void (await fetch("https://pay", { method: "POST", signal, body: order.orderId })),
    },
    /fetch/,
  ],
  [
    "effect-off-the-ledger",
    "another client",
    { handle: (order, { signal }) => axios.post("https://pay", order, { signal }) },
    /axios\.post/,
  ],
  [
    "outside-call-in-transaction",
    "P-46 an execution that is started before the commit",
    {
      async handle(order, { tx }) {
        await tx.query("select $1", [order.orderId]);
        const aws = { startExecution: async (_input: object) => undefined };
        await aws.startExecution({ name: order.orderId });
      },
    },
    /startExecution.*after tx\.query/,
  ],
  [
    "outside-call-in-transaction",
    "P-12 a call while the transaction is open",
    {
      async handle(order, { tx, signal }) {
        await tx.query("select $1", [order.orderId]);
        await fetch("https://stock", { signal });
      },
    },
    /fetch.*after tx\.query/,
  ],
  [
    "wait-in-transaction",
    "P-13 insert, wait for a supervisor, tell the result: all in the handler's transaction",
    {
      async handle(order, { tx }) {
        await tx.query("insert into cases values ($1)", [order.orderId]);
        await supervisors.waitForDecision(order.orderId);
        await tx.query("update cases set status = 'APPROVED' where id = $1", [order.orderId]);
      },
    },
    /supervisors\.waitForDecision.*waits while.*tx\.query/,
  ],
  [
    "wait-in-transaction",
    "P-13 the same in a transaction of its own",
    {
      async handle(order) {
        await client.query("begin");
        await client.query("insert into cases values ($1)", [order.orderId]);
        await supervisors.waitForDecision(order.orderId);
        await client.query("commit");
      },
    },
    /supervisors\.waitForDecision.*waits while.*client\.query/,
  ],
  [
    "signal-ignored",
    "a call without signal",
    { handle: async () => void (await fetch("https://stock")) },
    /fetch/,
  ],
  [
    "orchestrating-handler",
    "A-15 three calls to others in one handler",
    {
      async handle(order) {
        await payments.call(() => order);
        await mails.send(order);
        await events.publish(order);
      },
    },
    /3 calls.*payments\.call.*mails\.send.*events\.publish/,
  ],
  [
    "local-file",
    "W-39 a report on the local disk",
    { handle: (order) => writeFile("/tmp/report", order.orderId) },
    /writeFile/,
  ],
  [
    "owner-placeholder",
    "W-39 dead letters of nobody",
    { queue: { deadLetter: { ...deadLetter, owner: "TODO" } } },
    /"TODO"/,
  ],
  [
    "runbook-missing",
    "a runbook that is not there",
    { queue: { deadLetter: { ...deadLetter, runbook: "runbooks/none.md" } } },
    /runbooks\/none\.md/,
  ],
  [
    "unbounded-concurrency",
    "W-39 no bound in all",
    { worker: { concurrency: 200, globalConcurrency: undefined as never } },
    /20 × 200 = 4000/,
  ],
  [
    "idle-slots",
    "slots that nobody can use",
    { worker: { concurrency: 16, globalConcurrency: 4 } },
    /16 slots.*4 handlers/,
  ],
  ["single-lane", "one lock for all", { worker: { lock: () => "all" } }, /same lock/],
];

test.each(smells)("%s: %s", (rule, _, smell, message) => {
  const found = findings(smell).filter((finding) => finding.rule === rule);
  expect(found).toHaveLength(1);
  expect(found[0]).toMatchObject({
    name: "order-work",
    severity: expect.any(String),
    message: expect.stringMatching(message),
  });
  expect(found[0]!.fix).toMatch(/\w/);
  expect(found[0]!.place).toMatch(/check\.test\.ts:\d+$/);
});

test("W-39 an application without a smell has no finding", () => {
  expect(findings({})).toEqual([]);
  const careful: Handle = async (order, { tx, signal }) => {
    const stock = await fetch("https://stock", { signal });
    await payments.call(() => fetch("https://pay", { method: "POST", signal }));
    const rows = [1, 2].map((row) => tx.query("select $1, $2", [row, stock.status]));
    await Promise.all(rows);
    await new Promise((resolve) => setTimeout(resolve, 1));
    return tx.query("select $1", [order.orderId]);
  };
  expect(findings({ handle: careful })).toEqual([]);
});

test("what a declaration accepts is told with its reason, and stands apart", () => {
  const accepts = { "no-idempotency": "setting a flag twice is harmless" };
  expect(findings({ worker: { idempotencyKey: "none", accepts } })).toMatchObject([
    { rule: "no-idempotency", accepted: "setting a flag twice is harmless" },
  ]);
});

function inFile<T>(text: string, use: (file: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "tuntas-check-"));
  const file = join(folder, "sends.mjs");
  writeFileSync(file, text);
  try {
    return use(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("Q-08 W-39 a constant FIFO group is found with its line, one from the message is not", () => {
  inFile(
    'import { orders } from "./orders.mjs";\nawait orders.send({}, { groupId: "all" });\nawait orders.send({}, { groupId: order.customerId });\n',
    (file) =>
      expect(check(gather([{ file, exports: {} }]))).toMatchObject([
        { rule: "single-lane", place: `${file}:2`, message: 'orders: every message goes to the group "all"' },
      ]),
  );
});

const machine = (states: object): string => JSON.stringify({ StartAt: "First", States: states }, null, 2);
const findIn = (text: string) =>
  check(gather([], [{ name: "activation", place: "activation.asl.json", text }]));

test("a state machine that waits for ever, chooses blindly or tries for ever is found with the state's line", () => {
  const waiting = {
    Type: "Task",
    Resource: "arn:aws:states:::sqs:sendMessage.waitForTaskToken",
    Parameters: { QueueUrl: "q", MessageBody: "b" },
    End: true,
  };
  const retry = [{ ErrorEquals: ["States.ALL"], MaxAttempts: 1000 }];
  expect(
    findIn(
      machine({
        First: { Type: "Choice", Choices: [{ Variable: "$.a", StringEquals: "b", Next: "Wait" }] },
        Wait: { ...waiting, Retry: retry },
      }),
    ),
  ).toMatchObject([
    { rule: "choice-without-default", place: "activation.asl.json:4" },
    { rule: "task-without-timeout", place: "activation.asl.json:14" },
    { rule: "endless-retry", place: "activation.asl.json:14", message: expect.stringContaining("1000") },
  ]);
  expect(findIn(machine({ First: { ...waiting, HeartbeatSeconds: 60 } }))).toEqual([]);
  expect(findIn("{}")).toMatchObject([{ rule: "invalid-machine", severity: "error" }]);
});

test("P-29 a loop that polls so often that it cannot last is found, a slow one and a callback are not", () => {
  const loop = (seconds: number) =>
    machine({
      First: { Type: "Wait", Seconds: seconds, Next: "Look" },
      Look: { Type: "Pass", Next: "Decide" },
      Decide: {
        Type: "Choice",
        Choices: [{ Variable: "$.done", BooleanEquals: true, Next: "Done" }],
        Default: "First",
      },
      Done: { Type: "Succeed" },
    });
  expect(findIn(loop(5))).toMatchObject([
    { rule: "tight-poll", message: expect.stringContaining("waits 5 s in a loop, which fills the history") },
  ]);
  expect(findIn(loop(30))).toEqual([]);
  expect(
    findIn(machine({ First: { Type: "Wait", Seconds: 1, Next: "Done" }, Done: { Type: "Succeed" } })),
  ).toEqual([]);
});

test("T-16 T-17 thirty states that only compute are found and named, row by row; ten, and those with a retry, are not", () => {
  const row = (prefix: string, count: number, more: object, end: object) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, at) => [
        `${prefix}${at}`,
        { ...more, ...(at === count - 1 ? end : { Next: `${prefix}${at + 1}` }) },
      ]),
    );
  const call = { Type: "Task", Resource: "arn:aws:lambda:eu-central-1:123456789012:function:f" };
  const chain = (of: object, count = 30) =>
    findIn(machine({ First: { ...of, Next: "S0" }, ...row("S", count, of, { End: true }) }));
  expect(chain(call)).toMatchObject([
    {
      rule: "states-that-compute",
      severity: "advice",
      place: "activation.asl.json:4",
      message: expect.stringMatching(/31 states only compute; .*: First → S0 → S1 → .* → S29$/),
    },
  ]);
  expect(chain(call, 10)).toEqual([]);
  expect(chain({ ...call, Retry: [{ ErrorEquals: ["States.ALL"], MaxAttempts: 2 }] })).toEqual([]);
  expect(chain({ Type: "Wait", Seconds: 60 })).toEqual([]);
  const choice = {
    Type: "Choice",
    Choices: [{ Variable: "$.n", NumericEquals: 1, Next: "B0" }],
    Default: "B1",
  };
  const parted = {
    First: { Type: "Pass", Next: "A0" },
    ...row("A", 14, call, { Next: "Choose" }),
    Choose: choice,
    ...row("B", 14, call, { End: true }),
  };
  expect(findIn(machine(parted))).toMatchObject([
    { message: expect.stringMatching(/28 states .*: First → A0 → .* → A13; B1 → B2 → .* → B13$/) },
  ]);
});

test("P-13 a workflow's own task is held to it too, and what waits after the commit is not", () => {
  const definition = {
    StartAt: "A",
    States: { A: { Type: "Task", Resource: "ask", End: true } },
  } as const;
  const accepts = { "workflow-unreconciled": "it writes nothing" };
  const found = (handle: (input: { id: string }, ctx: any) => unknown) => {
    const asking = workflow("Asking", { definition, tasks: { ask: handle }, accepts });
    return check(gather([{ file: "/nowhere.mjs", exports: { asking } }])).filter(
      ({ accepted }) => accepted === null,
    );
  };
  expect(
    found(async ({ id }, { tx, signal }) => {
      await tx.query("insert into cases values ($1)", [id]);
      await fetch("https://post", { signal });
      await supervisors.waitForDecision(id);
    }),
  ).toMatchObject([
    { rule: "wait-in-transaction", name: "Asking", severity: "error" },
    { rule: "outside-call-in-transaction", name: "Asking" },
  ]);
  expect(
    found(async ({ id }) => {
      await client.query("begin");
      await client.query("insert into cases values ($1)", [id]);
      await client.query("commit");
      await supervisors.waitForDecision(id);
    }),
  ).toEqual([]);
});

test("S-11 scheduled work that measures back from now is warned of, and what works on its window is not", () => {
  const found = (handle: Handle, isScheduled = true) => {
    const reports = queue("reports", { message, visibilityTimeout: "30s", deadLetter });
    const reporter = worker(reports, { idempotencyKey: (order) => order.orderId, timeout: "20s", handle });
    const nightly = schedule("nightly", {
      when: "cron(0 2 * * ? *)",
      timeZone: "Asia/Jakarta",
      overlap: "skip",
      catchUp: "skip",
      target: reports,
      succeedsWithin: "1h",
      owner: "reports-team",
      runbook: "r",
    });
    const exports = isScheduled ? { reporter, nightly } : { reporter };
    return check(gather([{ file: "/nowhere.mjs", exports }])).filter(({ rule }) => rule === "moving-window");
  };
  const moving: Handle = async (_, { tx }) =>
    tx.query("insert into report select count(*) from placed where at > now() - interval '1 day'");
  expect(found(moving)).toMatchObject([
    {
      name: "reports",
      severity: "warning",
      message: expect.stringMatching(/schedule nightly gives.*now\(\) -/),
    },
  ]);
  expect(
    found(async (_, { tx }) => tx.query(`select ${1} from placed where day = current_date - 1`)),
  ).toHaveLength(1);
  expect(found(moving, false)).toEqual([]);
  expect(
    found(async (order, { tx }) => tx.query("select now() from placed where at >= $1", [order])),
  ).toEqual([]);
});

test("T-18 T-19 a batch whose jobs take longer and longer is found, one bad night and short ones are not", () => {
  const nightly = batch("nightly", {
    input: message,
    partitions: () => [{ key: "all" }],
    handle: async (_, { tx }) => tx.query("insert into staged select 1"),
    validate: async ({ tx }) => (await tx.query("select from staged")).rows.map(() => "left over"),
    promote: () => undefined,
    staging: { table: "staged", kept: "0s" },
    retry: { attempts: 3, base: "1s", max: "1m" },
    timeout: "20s",
    concurrency: 4,
    priority: 0,
    runsOn: "anywhere",
    owner: "data-team",
    runbook: "https://runbooks.example/nightly",
  });
  const after = (...minutes: number[]) =>
    check({
      ...gather([{ file: "/nowhere.mjs", exports: { nightly } }]),
      runsMs: new Map([["nightly", minutes.map((each) => each * 60_000)]]),
    });
  expect(after(20, 21, 22, 26, 27, 29, 35, 38, 41)).toMatchObject([
    {
      rule: "batch-grows",
      severity: "advice",
      message: expect.stringContaining("21 min, then 27 min, then 38 min"),
      fix: expect.stringMatching(/from a stream, and keep the batch for reconciliation and backfills/),
    },
  ]);
  expect(after(20, 21, 22, 20, 21, 90, 21, 22, 95)).toEqual([]);
  expect(after(20, 22, 24, 26, 28, 30, 32, 34)).toEqual([]);
  expect(after(...[20, 21, 22, 26, 27, 29, 35, 38, 41].map((each) => each / 60))).toEqual([]);
});

test("B-06 a batch's handler that writes to the final place is an error, and is held to the rules of workers", () => {
  const rulesOf = (handle: (partition: any, context: any) => unknown) => {
    const statements = batch("statements", {
      input: message,
      partitions: () => [{ key: "all" }],
      handle,
      validate: async ({ tx }) =>
        (await tx.query("select from statement_staging")).rows.map(() => "left over"),
      promote: () => undefined,
      staging: { table: "statement_staging", kept: "0s" },
      retry: { attempts: 3, base: "1s", max: "1m" },
      timeout: "20s",
      concurrency: 4,
      priority: 0,
      runsOn: "anywhere",
      owner: "billing-team",
      runbook: "r",
    });
    return check(gather([{ file: "/nowhere.mjs", exports: { app: app({ statements }) } }]));
  };
  expect(
    rulesOf(async (_, { tx }) => tx.query("update statement set total = 1")).filter(
      ({ severity }) => severity === "error",
    ),
  ).toMatchObject([
    { rule: "unstaged-output", message: expect.stringMatching(/writes to statement, .*statement_staging/) },
  ]);
  expect(rulesOf(async (_, { tx }) => tx.query("insert into statement_staging select 1, 2"))).toEqual([]);
  expect(
    rulesOf((_, { tx }) => void tx.query("delete from statement_staging")).map(({ rule }) => rule),
  ).toEqual(["ack-before-commit"]);
});

test("B-26 a backfill that looks at nothing, never aborts, cannot be undone and runs at noon is found, and so is its owner", () => {
  type Given = { readonly tx: { query(text: string): Promise<{ rows: unknown[] }> } };
  const rulesOf = (changes: object) => {
    const mend = backfill("mend", {
      scope: message,
      records: {
        table: "orders",
        key: "id",
        columns: ["id"],
        where: () => ({ text: "true", values: [] }),
        final: "none",
      },
      partitions: () => [{ key: "all" }],
      handle: async (_: unknown, { tx }: Given) => tx.query("update orders set mended = true"),
      throttle: { perSecond: 50, slowAbove: { database: "50ms", downstream: "1s" } },
      abort: { errorShare: 0.01, downstream: "5s" },
      window: "any",
      verify: async ({ tx }: Given) =>
        (await tx.query("select from orders where not mended")).rows.map(() => "left"),
      rollback: {
        plan: "undo it",
        undo: async (_: unknown, { tx }: Given) => tx.query("update orders set mended = false"),
      },
      timeout: "20s",
      concurrency: 60,
      runsOn: "anywhere",
      owner: "billing-team",
      runbook: "r",
      ...changes,
    } as never);
    const found = check(gather([{ file: "/nowhere.mjs", exports: { app: app({ mend }) } }]));
    return found.map(({ rule }) => rule);
  };
  expect(rulesOf({})).toEqual([]);
  expect(rulesOf({ verify: () => [] })).toEqual(["unverified-output"]);
  expect(rulesOf({ rollback: { plan: "by hand" } })).toEqual(["backfill-without-undo"]);
  expect(rulesOf({ abort: { errorShare: 1, downstream: "5s" } })).toEqual(["backfill-never-aborts"]);
  const fast = { perSecond: 500, slowAbove: { database: "50ms", downstream: "1s" } };
  expect(rulesOf({ throttle: fast })).toEqual(["backfill-at-any-hour"]);
  const night = { from: "22:00", to: "05:00", timeZone: "Asia/Jakarta" };
  expect(rulesOf({ throttle: fast, window: night })).toEqual([]);
  expect(rulesOf({ owner: "TODO", runbook: "runbooks/missing.md" })).toEqual([
    "owner-placeholder",
    "runbook-missing",
  ]);
  const early = (_: unknown, { tx }: Given) => void tx.query("update orders set mended = true");
  expect(rulesOf({ handle: early })).toEqual(["ack-before-commit"]);
});

test("W-39 an endpoint of nobody, with no runbook, is found", () => {
  const partner = endpoint("partner", {
    url: "https://partner.example/",
    timeout: "5s",
    retry: { refusals: 10, base: "1s", max: "5m" },
    permanentStatus: [],
    owner: "TODO",
    runbook: "runbooks/missing.md",
  });
  const found = check(gather([{ file: "/nowhere.mjs", exports: { app: app({ partner }) } }]));
  expect(found.map(({ rule, name }) => [rule, name])).toEqual([
    ["owner-placeholder", "partner"],
    ["runbook-missing", "partner"],
  ]);
});

test("M-09 a migration that changes tables and rewrites rows is found, one that does either is not", () => {
  const folder = mkdtempSync(join(tmpdir(), "check-migrations-"));
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  write("0001-both.sql", "alter table a add b int; update a set b = 1");
  write("0002-table.sql", "create table c (d text default 'update a')");
  write("0003-rows.sql", "insert into c values ('one')");
  const shop = app({}, { migrations: { schema: "shop", folder: pathToFileURL(`${folder}/`) } });
  expect(check(gather([{ file: "/nowhere.mjs", exports: { shop } }]))).toMatchObject([
    { rule: "migration-mixes-data", name: "0001-both.sql", severity: "warning" },
  ]);
  rmSync(folder, { recursive: true });
});

test("P-09 a job that is not waited for, a token that nobody has and one that nobody waits for are advised against", () => {
  const runTask = (pattern: string, parameters: object) =>
    findIn(
      machine({
        First: {
          Type: "Task",
          Resource: `arn:aws:states:::ecs:runTask${pattern}`,
          TimeoutSeconds: 60,
          Parameters: { TaskDefinition: "export", ...parameters },
          Next: "Done",
        },
        Done: { Type: "Succeed" },
      }),
    );
  const token = { Overrides: { "Token.$": "$$.Task.Token" } };
  const advice = [{ rule: "sync-or-token", severity: "advice" }];
  expect(runTask("", {})).toMatchObject(advice);
  expect(runTask(".waitForTaskToken", {})).toMatchObject(advice);
  expect(runTask(".sync", token)).toMatchObject(advice);
  expect(runTask(".sync", {})).toEqual([]);
  expect(runTask(".waitForTaskToken", token)).toEqual([]);
  const Parameters = { TaskDefinition: "export" };
  const last = { Type: "Task", Resource: "arn:aws:states:::ecs:runTask", Parameters, End: true };
  expect(findIn(machine({ First: last }))).toEqual([]);
});

test("R-15 a workflow that nobody reconciles is found; one with a reconciliation, or a reason for none, is not", () => {
  const definition = { StartAt: "Done", States: { Done: { Type: "Succeed" } } };
  const activation = workflow("CaseActivation", { definition });
  const accepts = { "workflow-unreconciled": "it writes nothing" };
  const harmless = workflow("Report", { definition, accepts });
  const watched = workflow("Payment", { definition });
  const paid = reconciliation({
    name: "paid",
    invariant: "what succeeded is paid",
    anomaly: "status_stale",
    owner: "payments-team",
    of: watched,
    every: "1h",
    source: async () => new Map(),
    derived: async () => new Map(),
  });
  const found = check(gather([{ file: "/nowhere.mjs", exports: { activation, harmless, watched, paid } }]));
  expect(found).toMatchObject([
    { rule: "workflow-unreconciled", name: "CaseActivation", severity: "warning", accepted: null },
    { rule: "workflow-unreconciled", name: "Report", accepted: "it writes nothing" },
  ]);
  expect(found).toHaveLength(2);
});

test("Y-09 Y-10 a consumer that calls the outside for each record is warned of, one that sends a message instead is not", () => {
  const options = {
    partitions: 8,
    retention: "7d",
    owner: "orders-team",
    runbook: "https://runbooks.example/s",
  } as const;
  const of = stream("order-events", {
    ...options,
    record: message,
    key: "order id: what happens to an order",
  });
  expect(() => stream("order-events", { ...options, record: message, key: " " })).toThrow(
    /key: expected what/,
  );
  const mails = queue("mails", { message, deadLetter });
  const settings = {
    from: "start",
    batch: 100,
    onBadRecord: "park",
    retry: { attempts: 3 },
    timeout: "20s",
    lagWithin: "5m",
  } as const;
  const found = (handle: HandlesEach<typeof message>["handle"]) => {
    const reader = consumer(of, { ...settings, name: "mailer", handle });
    const all = check(gather([{ file: "/nowhere.mjs", exports: { all: app({ mails, reader }) } }]));
    return all.filter(({ name }) => name === "order-events/mailer");
  };
  const slow = found(async ({ value }, { signal }) => {
    await fetch("https://mail.example/send", { method: "POST", body: value.orderId, signal });
  });
  expect(slow).toMatchObject([{ rule: "slow-ordered-handler", severity: "warning" }]);
  expect(slow[0]!.message).toMatch(/order-events\/mailer: fetch\(…\) is called for each record/);
  expect(found(async ({ value }, { tx }) => void (await mails.send(value, { tx })))).toEqual([]);
  expect(
    found(async ({ value }, { tx }) => {
      await tx.query("select $1", [value.orderId]);
      await fetch("https://mail.example/send");
    }).map(({ rule }) => rule),
  ).toEqual(["slow-ordered-handler", "outside-call-in-transaction"]);
});

test("every rule has a smell here, or a test of its own", () => {
  const tested = new Set([
    ...smells.map(([rule]) => rule),
    "invalid-machine",
    "task-without-timeout",
    "tight-poll",
    "sync-or-token",
    "states-that-compute",
    "batch-grows",
    "choice-without-default",
    "workflow-unreconciled",
    "task-near-timeout",
    "alarm-narrowed",
    "service-without-limits",
    "service-without-scaling",
    "service-without-health-check",
    "service-without-breaker",
    "service-without-alarms",
    "service-alarm-unknown",
    "worker-scaled-by-cpu",
    "downstream-oversubscribed",
    "moving-window",
    "slow-ordered-handler",
    "unstaged-output",
    "unverified-output",
    "backfill-without-undo",
    "backfill-never-aborts",
    "backfill-at-any-hour",
    "migration-mixes-data",
  ]);
  expect(Object.keys(rules).filter((rule) => !tested.has(rule as RuleId))).toEqual([]);
});

test("Q-20 the measured p99 of a workflow's task is held against its declared one and against its time", () => {
  const state = (more: object) => ({ Type: "Task", Resource: "send", ...more });
  const definition = {
    StartAt: "A",
    States: { A: state({ TimeoutSeconds: 60, Next: "B" }), B: state({ TimeoutSeconds: 10, End: true }) },
  } as never;
  const accepts = { "workflow-unreconciled": "it writes nothing" };
  const sending = workflow("Sending", { definition, tasks: { send: () => null }, accepts });
  const times = timing({ name: "Sending/send", p99: "3s" });
  const exports = { sending, times };
  const found = (p99Ms: number) =>
    check({
      ...gather([{ file: "/nowhere.mjs", exports }]),
      measured: new Map([["Sending/send", { p99Ms, attempts: 900 }]]),
    }).filter(({ accepted }) => accepted === null);
  expect(found(2900)).toEqual([]);
  expect(found(4000)).toMatchObject([{ rule: "p99-exceeded", name: "Sending/send" }]);
  expect(found(6000)).toMatchObject([
    { rule: "p99-exceeded", name: "Sending/send" },
    {
      rule: "task-near-timeout",
      name: "Sending",
      message: "Sending: the p99 of task send was 6 s over 900 attempts, and the TimeoutSeconds of B is 10 s",
    },
  ]);
});

const ordersAlarm = (name: string, metric: AlarmOptions["metric"]) =>
  alarm(name, {
    metric,
    when: { above: 10 },
    of: [1, 1],
    missing: "ignore",
    owner: "orders-team",
    runbook: "https://runbooks.example/orders",
    notify: [],
  });

test("V-30 alarm-narrowed: what takes the place of a shipped alarm watches all that it watched, else the rest has none", () => {
  const metric = { name: "tuntas_queue_dead_letters" };
  const seen = (definition: AlarmDefinition) =>
    check(gather([{ file: "/nowhere.mjs", exports: { definition } }])).map(({ rule, message }) => [
      rule,
      message,
    ]);
  expect(seen(ordersAlarm("dead-letters", metric))).toEqual([]);
  expect(seen(ordersAlarm("orders-dead", { ...metric, labels: { queue: "orders" } }))).toEqual([]);
  expect(seen(ordersAlarm("dead-letters", { ...metric, labels: { queue: "orders" } }))).toEqual([
    ["alarm-narrowed", expect.stringContaining("it watches queue orders alone")],
  ]);
  expect(seen(ordersAlarm("dead-letters", { name: "tuntas_queue_depth" }))).toEqual([
    ["alarm-narrowed", expect.stringContaining("not tuntas_queue_dead_letters")],
  ]);
});

/** What every workload of a kind has, without anybody declaring it. */
const profiles = {
  queue: /^tuntas_queue_/,
  worker: /^tuntas_worker_/,
  workflow: /^tuntas_workflow_/,
  approval: /^tuntas_approval/,
  provider: /^tuntas_side_effect/,
  reconciliation: /^tuntas_(discrepancies|reconciliation)/,
  outbox: /^tuntas_outbox_/,
  lease: /^tuntas_leases_/,
  operation: /^tuntas_operation/,
};

test.each(Object.entries(profiles))(
  "V-30 a %s has signals by its kind, and a shipped alarm on one",
  (_, own) => {
    const kept = [...metricEntries].filter(([name, entry]) => own.test(name) && entry.kept);
    expect(kept.length).toBeGreaterThan(0);
    const watched = shippedAlarms.flatMap(({ options: { metric, and } }) => [
      metric.name,
      and?.metric.name ?? "",
    ]);
    expect(watched.some((name) => own.test(name))).toBe(true);
  },
);

const document = (value: object) => ({ name: "document", place: "/ecs.json", text: JSON.stringify(value) });
const sound = {
  family: "orders-api",
  containerDefinitions: [
    {
      name: "api",
      cpu: 256,
      memory: 512,
      memoryReservation: 256,
      healthCheck: { command: ["CMD", "./ready"] },
    },
    { name: "sidecar", essential: false },
  ],
};
const changed = (change: object) => ({
  ...sound,
  containerDefinitions: [{ ...sound.containerDefinitions[0], ...change }],
});
const target = { ScalableDimension: "ecs:service:DesiredCount", ResourceId: "service/main/orders-api" };
const alarms = { alarmNames: ["orders-api-5xx"], enable: true, rollback: true };
const deploymentCircuitBreaker = { enable: true, rollback: true };
const tied = { deploymentConfiguration: { deploymentCircuitBreaker, alarms } };
const ecsService = (change: object) => [
  {
    serviceName: "orders-api",
    deploymentConfiguration: { deploymentCircuitBreaker, alarms: { ...alarms, ...change } },
  },
  target,
];

test.each<readonly [string, readonly object[], readonly (readonly [RuleId, RegExp])[]]>([
  ["U-08 a sound task definition", [sound], []],
  [
    "U-08 a task definition without memory",
    [changed({ memory: undefined, memoryReservation: undefined })],
    [
      [
        "service-without-limits",
        /orders-api: container api has no memory \(the limit\), no memoryReservation/,
      ],
    ],
  ],
  [
    "a task definition without cpu",
    [changed({ cpu: undefined })],
    [["service-without-limits", /has no cpu$/]],
  ],
  [
    "a task definition that nobody asks for its health",
    [changed({ healthCheck: undefined })],
    [["service-without-health-check", /container api has no healthCheck/]],
  ],
  ["U-08 a service with its scalable target", [{ serviceName: "orders-api", ...tied }, target], []],
  [
    "D-15 a service whose alarms are named and not enabled",
    ecsService({ enable: false }),
    [["service-without-alarms", /orders-api: its alarms are not enabled/]],
  ],
  [
    "D-15 a service that names no alarm",
    ecsService({ alarmNames: [] }),
    [["service-without-alarms", /orders-api: its alarms name none/]],
  ],
  [
    "U-08 a service that nothing scales and nothing stops",
    [{ serviceName: "orders-api" }, { ...target, ResourceId: "service/main/other" }],
    [
      ["service-without-scaling", /no file registers it as a scalable target/],
      ["service-without-breaker", /deploymentCircuitBreaker is not enabled/],
      ["service-without-alarms", /its alarms name none/],
    ],
  ],
])("%s", (_, documents, expected) => {
  const found = check(gather([], documents.map(document)));
  expect(found.map(({ rule }) => rule)).toEqual(expected.map(([rule]) => rule));
  found.forEach(({ message, place }, index) => {
    expect(message).toMatch(expected[index]![1]);
    expect(place).toBe("/ecs.json");
  });
});

test("W-34 D-15 an instance that is killed while its work may go on; an alarm that nobody declares", () => {
  const of = queue("order-work", { message, deadLetter });
  const work = worker(of, { idempotencyKey: "none", timeout: "40s", handle() {} });
  const orders = service("orders-worker", {
    kind: "consumer-group",
    run: { module: "./worker.js" },
    cpu: { request: 256, limit: 512 },
    memory: { request: 128, limit: 256 },
    stopTimeout: "30s",
    healthCheck: { presence: true, interval: "5s", timeout: "2s", retries: 3 },
    rollout: {
      minimumHealthyPercent: 50,
      maximumPercent: 200,
      circuitBreaker: { rollback: true },
      alarms: { names: ["worker-failures", "order-eror-rate"], rollback: true },
    },
    scaling: {
      min: 1,
      max: 4,
      target: { queue: of, backlogPerInstance: 100, oldestAge: "2m", downstream: "none" },
      scaleOutCooldown: "30s",
      scaleInCooldown: "5m",
    },
  });
  const found = check(gather([{ file: "/nowhere.mjs", exports: { work, orders } }]));
  const own = found.filter(({ name }) => name === "orders-worker");
  const [unknown, short] = own;
  expect(own).toHaveLength(2);
  expect(unknown).toMatchObject({ rule: "service-alarm-unknown", severity: "error" });
  expect(unknown!.message).toBe("orders-worker: nobody declares order-eror-rate");
  expect(short).toMatchObject({ rule: "drain-too-short", severity: "advice" });
  expect(short!.message).toMatch(/stopTimeout is 30 s, and an attempt of order-work may take 40 s/);
});

test("X-05 X-15 a worker that follows its CPU; two that have reserved more of a provider than it takes", () => {
  const of = queue("order-work", { message, deadLetter });
  const serve = (name: string, kind: ServiceOptions["kind"], target: object) =>
    service(name, {
      kind,
      run: { module: "./worker.js" },
      cpu: { request: 256, limit: 512 },
      memory: { request: 128, limit: 256 },
      stopTimeout: "30s",
      healthCheck: { presence: true, interval: "5s", timeout: "2s", retries: 3 },
      rollout: { minimumHealthyPercent: 50, maximumPercent: 200, circuitBreaker: { rollback: true } },
      scaling: { min: 1, max: 4, target, scaleOutCooldown: "30s", scaleInCooldown: "5m" } as Scaling,
    });
  const reserving = (name: string, safePerSecond: number) => {
    const downstream = { name: "bank", safePerSecond, perInstance: 5, slowAbove: "1s" };
    return serve(name, "consumer-group", { queue: of, backlogPerInstance: 9, oldestAge: "2m", downstream });
  };
  const exports = {
    bank: provider({ name: "bank", timeout: "5s", reconcile: {}, callsPerSecond: 100 }),
    api: serve("api", "rest", { cpuPercent: 60 }),
    worker: serve("worker", "consumer-group", { cpuPercent: 60 }),
    one: reserving("one", 60),
    two: reserving("two", 50),
  };
  const rules = ["worker-scaled-by-cpu", "downstream-oversubscribed"];
  const own = (of: object) =>
    check(gather([{ file: "/nowhere.mjs", exports: { ...of } }])).filter(({ rule }) => rules.includes(rule));
  expect(own(exports).map(({ message }) => message)).toEqual([
    "bank: 110 calls a second are reserved (one 60, two 50), and its provider takes 100",
    "worker: a consumer-group that follows 60 % of the CPU limit",
  ]);
  expect(own({ ...exports, worker: undefined, two: reserving("two", 40) })).toEqual([]);
});

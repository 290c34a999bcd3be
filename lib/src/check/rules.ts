// The catalogue: every rule with what it looks for, why that hurts, and what to do. docs/reference/check.md is made from it.
import type { Rule } from "./contract.ts";

export const rules = {
  "time-ladder": {
    severity: "error",
    smell: "Times that must stand in order do not: lease < heartbeat < task timeout < business expiry.",
    why: "A worker goes on with what its workflow has given up, or a workflow with a decision whose time is over.",
    fix: "Change the one of the two times that you can.",
  },
  "visibility-budget": {
    severity: "error",
    smell:
      "The visibility timeout is shorter than the work: 99th percentile (else the attempt's timeout) + downstream + retries + margin.",
    why: "Whoever receives over the wire is still at work when the message appears again, so that it is done twice.",
    fix: "Make the visibility longer, or the attempt shorter.",
  },
  "p99-exceeded": {
    severity: "warning",
    smell:
      "The handler's 99th percentile was measured to be longer than it is declared (`tuntas check --measured`).",
    why: "Whatever was set by the declared number, the visibility first of all, rests on a belief.",
    fix: "Declare what was measured and look at what follows from it, or find out why the handler has become slow.",
  },
  "task-near-timeout": {
    severity: "warning",
    smell:
      "A task's 99th percentile was measured to be more than half of what it may take (`tuntas check --measured`).",
    why: "On a bad day it times out: its work is undone, and the state fails or does it all again.",
    fix: "Give the task and its state more time, or have the handler take less.",
  },
  "alarm-narrowed": {
    severity: "error",
    smell: "An alarm with the name of a shipped one watches less than that one did.",
    why: "It takes the place of the shipped one. What it leaves out fails without anybody being told.",
    fix: "Give it a name of its own, or have it watch the same metric without further labels.",
  },
  "workflow-unreconciled": {
    severity: "warning",
    smell: "A workflow is declared, and no reconciliation of it.",
    why: "One day an execution and the data that it works on will not agree, and nobody will know until a customer asks.",
    fix: "Declare one beside it (`workflowMissing`, `statusStale`, … of tuntas/ledger), with the workflow as its `of`.",
  },
  "visibility-far-above": {
    severity: "warning",
    smell: "The visibility timeout is more than ten times the work, and more than ten minutes.",
    why: "A consumer that dies keeps its message hidden all that time; nobody works on it and nobody knows.",
    fix: "Set it to about what the work needs, and extend it while a long item runs.",
  },
  "drain-too-short": {
    severity: "warning",
    smell: "A stopping process gets less time than its work takes.",
    why: "Each deployment cuts attempts off in the middle, and each of these is done again.",
    fix: "Give `start` a longer `drain` (and whatever kills the process a longer patience still), or make attempts shorter.",
  },
  "retries-outlive-retention": {
    severity: "error",
    smell: "All receives with their waits take longer than the queue keeps a message.",
    why: "The message expires before it is a dead letter: it is gone, and nobody was told.",
    fix: "Keep messages longer, allow fewer receives, or cap the backoff lower.",
  },
  "dead-letters-expire-first": {
    severity: "warning",
    smell: "Dead letters are not kept longer than the messages of their queue.",
    why: "A dead letter keeps its age: one that died late is gone before anybody could look at it.",
    fix: "Keep dead letters longer than the queue keeps messages; 14d is the most.",
  },
  "multiplied-retries": {
    severity: "warning",
    smell: "A handler tries again by itself while its queue tries again too.",
    why: "The attempts multiply. What is down is hit hardest when it comes back, and the visibility must cover them all.",
    fix: "Let the handler fail at once and leave retries to the queue, which waits longer each time.",
  },
  "endless-retry": {
    severity: "warning",
    smell: "More than 20 attempts before somebody is told.",
    why: "What fails twenty times fails for a reason. Until it is a dead letter it costs work, and nobody looks.",
    fix: "Lower the number of attempts; after a repair, dead letters are replayed with one command.",
  },
  "ack-before-commit": {
    severity: "error",
    smell: "A handler starts something that it does not wait for.",
    why: "The message is acknowledged when the handler returns. What still runs then can fail or die, and is never tried again.",
    fix: "Await it, or return it.",
  },
  "no-idempotency": {
    severity: "warning",
    smell: "A worker without idempotency key changes something.",
    why: "Every queue delivers some messages twice: a sender that repeats a send, a process that dies after its work. The change is then made twice.",
    fix: 'Derive idempotencyKey from the message; if repeating is harmless, say why: accepts: { "no-idempotency": "…" }.',
  },
  "key-same-for-all": {
    severity: "error",
    smell: "An idempotency key that does not depend on the message.",
    why: "The first message is done; every other one counts as its duplicate and is acknowledged undone.",
    fix: "Derive the key from what names the work, such as an order id.",
  },
  "key-never-same": {
    severity: "error",
    smell: "An idempotency key from a random number or a clock.",
    why: "The same message gets another key at each delivery, so nothing is ever recognised as done.",
    fix: "Derive the key from the message alone.",
  },
  "effect-off-the-ledger": {
    severity: "warning",
    smell: "A handler changes something outside without the side-effect ledger.",
    why: "If the answer is lost nobody knows whether it took place, and the next attempt does it again.",
    fix: "Make the call with `effect(…)` of tuntas/ledger, which keeps a row of it and asks the provider.",
  },
  "label-without-bound": {
    severity: "error",
    smell: "The code of an outcome is put together from data, such as an order's id.",
    why: "Codes are labels of metrics and groups of dead letters: each message makes a new series, until the 5,000 that are kept are full and no other one is counted.",
    fix: "Give it one of a few fixed codes, and put what differs into message.",
  },
  "outside-call-in-transaction": {
    severity: "warning",
    smell: "A handler calls the outside while its transaction is open: a request, startExecution, putEvents.",
    why: "Locks and a connection are held as long as the other side takes; when it is slow, everything stands. What was begun or told stays so when the transaction is undone.",
    fix: "Call first, then write: the transaction opens at its first use. Begin and tell by the outbox (`start(input, { tx })`, `send(message, { tx })`).",
  },
  "wait-in-transaction": {
    severity: "error",
    smell:
      "A handler waits for a person, another system or an event while its transaction is open: insert, wait, call, callback, commit.",
    why: "Seven harms: the connection is held and the pool runs dry; rows stay locked; the log and the lag of replicas grow; a commit whose answer is lost after all that is unknown; a restart loses it all; so does a failover; and a person takes days.",
    fix: "Commit before the wait, and let something that is stored wait: a workflow with an approval or a task token, each step in a short transaction of its own.",
  },
  "moving-window": {
    severity: "warning",
    smell:
      "Scheduled work measures back from now instead of working on the window that its schedule gives it.",
    why: "A run that is late, tried again or run a month later is about another time than it was due for: some of it twice, some of it never.",
    fix: "Take `window.start` and `window.end` of the input: `at >= $1 and at < $2`.",
  },
  "slow-ordered-handler": {
    severity: "warning",
    smell: "A consumer of a stream calls the outside for each record.",
    why: "A partition's records are handled one after another: each waits for the call before it. When the other side is slow or away, everything behind stands, and the lag grows.",
    fix: "Send a message to a queue in the handler (`send(message, { tx })`), and let a worker make the call: many at once, each with its own retry.",
  },
  "unstaged-output": {
    severity: "error",
    smell: "The handler of a batch's partition writes elsewhere than to its staging table.",
    why: "Readers see the output of some partitions and not of others, and after a failure nobody can tell what is half done.",
    fix: "Write to the staging table with job and partition, and let `promote` make it the final output.",
  },
  "unverified-output": {
    severity: "warning",
    smell:
      "The validation of a batch, or the verification of a backfill, neither looks at what it is given nor calls anything.",
    why: "What is wrong with the output is promoted, or counted as completed, and found by a customer.",
    fix: "Compare counts and sums with where the data came from, and answer what differs.",
  },
  "batch-grows": {
    severity: "advice",
    smell:
      "The jobs of a batch take longer and longer: half as long again as they did (`tuntas check --measured`).",
    why: "It works through everything to find what has changed; one night it does not end before the day.",
    fix: "Work on each change as it comes, from a stream, and keep the batch for reconciliation and backfills.",
  },
  "backfill-without-undo": {
    severity: "advice",
    smell: "A backfill has a plan to undo it, and no `undo`.",
    why: "On the day that it is needed somebody writes that code in a hurry, against production.",
    fix: "Write `rollback.undo`, and try it in a dry run; where it cannot be undone, say in the plan what makes it good.",
  },
  "backfill-never-aborts": {
    severity: "warning",
    smell: "A backfill goes on while every record fails.",
    why: "A mistake in its handler is made with all records before anybody looks.",
    fix: "Set `abort.errorShare` to what you would bear, such as 0.01.",
  },
  "backfill-at-any-hour": {
    severity: "advice",
    smell: "A backfill of more than 100 records a second may run at any hour.",
    why: "It takes the database's time from the customers of the day.",
    fix: "Give it a `window` at night, or fewer records a second.",
  },
  "migration-mixes-data": {
    severity: "warning",
    smell: "A migration both changes tables and rewrites rows.",
    why: "The tables stay locked for as long as the rewriting takes: minutes, on a large table, in which nobody reads it.",
    fix: "Leave the tables to the migration, and rewrite rows by a backfill.",
  },
  "signal-ignored": {
    severity: "advice",
    smell: "A call to the outside that does not take the attempt's signal.",
    why: "When the attempt times out the call goes on, beside the next attempt's.",
    fix: "Pass the context's `signal` on.",
  },
  "orchestrating-handler": {
    severity: "advice",
    smell: "One handler makes three or more calls that change something elsewhere.",
    why: "If the third fails the first two are made again, or have to be taken back; a handler has no memory for that.",
    fix: "Make it a workflow, where each step is recorded and has its own retry and compensation.",
  },
  "local-file": {
    severity: "warning",
    smell: "A handler writes a file.",
    why: "The next attempt may run on another machine, and the disk is gone with this one.",
    fix: "Put it into an object store under a name derived from the message, and keep the reference.",
  },
  "owner-placeholder": {
    severity: "error",
    smell: "The owner of dead letters, of a stream, a batch, a backfill or a command is nobody.",
    why: "What has no owner is looked at when a customer complains.",
    fix: "Name a team that is on call.",
  },
  "runbook-missing": {
    severity: "warning",
    smell: "The runbook is a file that does not exist.",
    why: "At three in the morning somebody opens it.",
    fix: "Write it (what died, why, how to repair it, how to replay), or correct the path; a URL is fine too.",
  },
  "unbounded-concurrency": {
    severity: "warning",
    smell: "50 or more handlers at once in each process, and no limit for all processes together.",
    why: "A scale-out multiplies it, and the database or the downstream is what gives in.",
    fix: "Set globalConcurrency to what the weakest of them bears.",
  },
  "idle-slots": {
    severity: "advice",
    smell: "A process has more slots than all processes together may use.",
    why: "The numbers say that somebody thought of another limit.",
    fix: "Make concurrency at most globalConcurrency.",
  },
  "single-lane": {
    severity: "warning",
    smell: "Everything waits for one lock or one FIFO group.",
    why: "The system works on one message at a time, whatever its size, and one stuck message stops it.",
    fix: "Group or lock by what must stay in order, such as the order or the customer.",
  },
  "service-without-limits": {
    severity: "error",
    smell: "A service does not say what CPU and memory it is given, or what it may not exceed.",
    why: "One that leaks takes its neighbours with it, and nobody can say how many fit on a machine.",
    fix: "Give each essential container cpu, memory and memoryReservation, or declare it with `service()`, which takes nothing less.",
  },
  "service-without-scaling": {
    severity: "error",
    smell: "A service has no scaling rule.",
    why: "At the peak there are too few of it, and at night too many, until a person comes.",
    fix: "Register a scalable target for ecs:service:DesiredCount with a target-tracking policy, and give its file too; `service()` has `scaling`.",
  },
  "worker-scaled-by-cpu": {
    severity: "warning",
    smell: "A service that works on messages is scaled by its CPU alone.",
    why: "A worker that waits for a slow downstream takes no CPU: while the backlog grows, the rule takes instances away.",
    fix: "Scale it by its queue: `target: { queue, backlogPerInstance, oldestAge, downstream }`.",
  },
  "downstream-oversubscribed": {
    severity: "error",
    smell:
      "Services have reserved more calls a second of a downstream than its provider is declared to take.",
    why: "Each of them is within its own bounds, and together they throttle or overload it.",
    fix: "Lower safePerSecond of some of them until the sum is at most the provider's callsPerSecond.",
  },
  "service-without-health-check": {
    severity: "warning",
    smell: "Nobody asks an instance of a service whether it is ready.",
    why: "A deployment takes for healthy what merely runs, and puts it in the place of what works.",
    fix: "Give the container a healthCheck that asks what readiness asks.",
  },
  "service-without-breaker": {
    severity: "warning",
    smell: "A service's deployments have no circuit breaker.",
    why: "A revision that never starts is started for ever, and nobody is told that the old one still serves.",
    fix: "Enable deploymentCircuitBreaker, with rollback.",
  },
  "service-without-alarms": {
    severity: "warning",
    smell: "A service's deployments are tied to no alarm.",
    why: "A revision that is healthy and answers every third request with an error is rolled out to the end.",
    fix: "Name the alarms on errors, latency and unhealthy targets in deploymentConfiguration.alarms, enabled, with rollback; `service()` has `rollout.alarms`.",
  },
  "service-alarm-unknown": {
    severity: "error",
    smell: "A service's deployments are tied to an alarm that nobody declares.",
    why: "It never goes off; such a service is not deployed.",
    fix: "Declare it with `alarm()` beside the service, or name one that is shipped (`tuntas alarm list`).",
  },
  "invalid-machine": {
    severity: "error",
    smell: "A state machine that CreateStateMachine refuses.",
    why: "It does not deploy.",
    fix: "Correct what the message names.",
  },
  "tight-poll": {
    severity: "warning",
    smell: "A state machine asks again and again, so often that its history is full within half a day.",
    why: "An execution ends at 25,000 events; until then each round costs transitions, whether or not there is news.",
    fix: "Let whoever knows call back (.waitForTaskToken), or wait longer; poll only for short and cheap checks.",
  },
  "task-without-timeout": {
    severity: "warning",
    smell: "A task waits for somebody else, and nothing says how long.",
    why: "If the callback is lost the execution waits for 99999999 seconds, which is three years.",
    fix: "Give the state TimeoutSeconds or HeartbeatSeconds, and catch States.Timeout.",
  },
  "sync-or-token": {
    severity: "advice",
    smell:
      "A job that ends by itself is not waited for, or is to answer a token that it is not given; or one that is waited for by its end is given a token.",
    why: "What follows begins while the job runs, or the state waits for an answer that nobody can send.",
    fix: "`.sync` for a job that ends by itself and whose exit code or result says how; `.waitForTaskToken` for what somebody else decides, or answers with a result of the domain: hand $$.Task.Token on.",
  },
  "states-that-compute": {
    severity: "advice",
    smell:
      "A state machine has two dozen states or more that only compute, in rows: functions and Pass states without a retry, a catch or a time of their own.",
    why: "Each costs a transition and a commit, and shows nothing that anybody of the business would look at; as code in one place it would be read at once.",
    fix: "Fold each row that is named into one function, and keep states where the business has one: a wait, a decision, something to undo.",
  },
  "choice-without-default": {
    severity: "warning",
    smell: "A choice without Default.",
    why: "A value that nobody has thought of ends the execution with States.NoChoiceMatched.",
    fix: "Add a Default that escalates to a person.",
  },
} as const satisfies Record<string, Rule>;

export type RuleId = keyof typeof rules;

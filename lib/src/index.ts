// The public door of the library.
export { TuntasError, catalogue, isTuntasError } from "./core/error.ts";
export type { Catalogue } from "./core/error.ts";
export type { Duration } from "./core/duration.ts";
export { refuseUnknown, type NamesOf } from "./core/options.ts";
export { meantHint, nearest } from "./core/nearest.ts";
export { describeIssues, jsonSchemaOf, type JsonSchema, type Schema } from "./core/schema.ts";
export { app, start } from "./app.ts";
export type { AppDefinition, AppOptions, RunningApp, StartOptions } from "./app.ts";
export type { Definition } from "./declared.ts";
export { runApp } from "./run.ts";
export type { RunOptions, Served } from "./run.ts";
export { openPlatform } from "./platform.ts";
export type { Platform, PlatformOptions } from "./platform.ts";
export { makeLog } from "./engine/log.ts";
export type { Log } from "./engine/log.ts";
export { alarm } from "./alarm/declaration.ts";
export type { AlarmDefinition, AlarmOptions } from "./alarm/contract.ts";
export { change } from "./change/declaration.ts";
export type { ChangeDefinition, ChangeOptions } from "./change/contract.ts";
export { queue, worker } from "./queue/declaration.ts";
export type {
  DeadLetterPolicy,
  QueueDefinition,
  QueueOptions,
  SendOptions,
  WorkerDefinition,
  WorkerOptions,
} from "./queue/declaration.ts";
export { conflict, poison, rejected, retry, unknown } from "./core/outcome.ts";
export type { Context } from "./queue/worker/context.ts";
export { task, workflow } from "./workflow/declaration.ts";
export type {
  Task,
  TaskContext,
  TaskDefinition,
  WorkflowDefinition,
  WorkflowOptions,
} from "./workflow/declaration.ts";
export { backfill } from "./batch/backfill/declaration.ts";
export { command } from "./operation/command/declaration.ts";
export type { CommandDefinition, CommandOptions } from "./operation/command/contract.ts";
export {
  concluded,
  exitCodes,
  jobResultSchema,
  meaningOf,
  wrongResult,
  type JobResult,
} from "./core/job-result.ts";
export type { BackfillDefinition, BackfillOptions } from "./batch/backfill/contract.ts";
export { batch } from "./batch/declaration.ts";
export type { TypedBatch } from "./batch/declaration.ts";
export type { BatchDefinition, BatchOptions } from "./batch/contract.ts";
export { schedule } from "./schedule/declaration.ts";
export type { OccurrenceInput, ScheduleDefinition, ScheduleOptions } from "./schedule/contract.ts";
export { consumer, stream } from "./stream/declaration.ts";
export type {
  ConsumerDefinition,
  ConsumerOptions,
  StreamContext,
  StreamDefinition,
  StreamOptions,
  StreamRecord,
} from "./stream/contract.ts";
export { endpoint } from "./outbox/declaration.ts";
export type { EndpointDefinition, EndpointOptions } from "./outbox/contract.ts";
export { service } from "./service/declaration.ts";
export type { ServiceDefinition } from "./service/contract.ts";
export { runMain, runUntilSignal } from "./engine/service.ts";
export type { ServiceOptions } from "./engine/service.ts";
export { durationText, toMs } from "./core/duration.ts";
export { planMigrations, runMigrations } from "./pg/migrate/application/index.ts";
export type { Migrations, Pending, Plan as MigrationPlan, Ran } from "./pg/migrate/application/index.ts";
export type { Database } from "./pg/database.ts";
export { toCoded as codedDatabaseError } from "./pg/faults.ts";
export { isTransactionControl } from "./engine/handler/control.ts";
export { handlerErrors } from "./engine/handler/contract.ts";
export type { HandlerTx } from "./engine/handler/contract.ts";
export { downstream } from "./engine/outside/downstream.ts";
export type { Downstream, DownstreamOptions, DownstreamState } from "./engine/outside/downstream.ts";
export { shareCommits } from "./pg/share.ts";
export type { SharedWork } from "./pg/share.ts";
export type { Queryable, Tx } from "./pg/contract.ts";

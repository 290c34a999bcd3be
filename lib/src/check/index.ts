// The door of the check room, `tuntas/check`: declarations in, findings out. It reads files where a declaration names
// one, and changes nothing.
import type { EndpointDefinition } from "../outbox/contract.ts";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { BackfillDefinition } from "../batch/backfill/contract.ts";
import type { BatchDefinition } from "../batch/contract.ts";
import type { CommandDefinition } from "../operation/command/contract.ts";
import type { Migrations } from "../pg/migrate/application/contract.ts";
import type { QueueDefinition, WorkerDefinition } from "../queue/declaration.ts";
import type { Provider, Reconciliation, TimingDefinition } from "../ledger/index.ts";
import type { ScheduleDefinition } from "../schedule/contract.ts";
import type { ServiceDefinition } from "../service/contract.ts";
import type { ConsumerDefinition, StreamDefinition } from "../stream/contract.ts";
import type { WorkflowDefinition } from "../workflow/declaration.ts";
import type { AlarmDefinition } from "../alarm/index.ts";
import { checkBatches, workerOf } from "./shapes/batches.ts";
import { checkBackfills, sliceWorkerOf } from "./shapes/backfills.ts";
import { checkMigrations, readMigrationFiles } from "./migrations.ts";
import { checkAlarms } from "./alarms.ts";
import { checkCapacity, checkOwners } from "./capacity.ts";
import type { Declared, Finding, JsonDocument, Severity, Sighting, SourceFile } from "./contract.ts";
import { checkConsumers } from "./shapes/consumers.ts";
import { checkEffects } from "./effects.ts";
import { checkMachine } from "./machines/index.ts";
import { rules } from "./rules.ts";
import { checkReconciled } from "./reconciled.ts";
import { checkServices, isOfEcs } from "./services.ts";
import { checkTasks } from "./tasks.ts";
import { checkTimes } from "./times.ts";
import { checkWindows } from "./shapes/windows.ts";

export { rules, type RuleId } from "./rules.ts";
export type { Declared, Finding, JsonDocument, Rule, Severity, SourceFile } from "./contract.ts";

/** What a module exports, if it is something that can be checked. */
type Exported =
  | QueueDefinition
  | WorkerDefinition
  | TimingDefinition
  | WorkflowDefinition
  | Reconciliation
  | AlarmDefinition
  | ScheduleDefinition
  | StreamDefinition
  | ConsumerDefinition
  | BatchDefinition
  | BackfillDefinition
  | CommandDefinition
  | ServiceDefinition
  | EndpointDefinition
  | Provider
  | {
      readonly kind: "app";
      readonly parts: Readonly<Record<string, Exported>>;
      readonly migrations?: Migrations;
    };

const partsOf = (exported: Exported | null | undefined): Exported[] => {
  if (exported?.kind === "app") return Object.values(exported.parts).flatMap(partsOf);
  if (exported?.kind === "worker") return [exported, exported.queue];
  if (exported?.kind === "consumer") return [exported, exported.stream];
  return exported ? [exported] : [];
};

const foldersOf = (exported: Exported | undefined): string[] =>
  exported?.kind === "app" && exported.migrations ? [exported.migrations.folder.href] : [];

const isOfKind =
  <K extends Exported["kind"]>(kind: K) =>
  (part: Exported): part is Extract<Exported, { kind: K }> =>
    part.kind === kind;

const fileOf = (place: string | undefined): string | undefined => place?.replace(/:\d+$/, "");

/** Files that declare something, so that a finding can name the line inside a handler. */
function sourcesOf(parts: readonly Exported[], files: readonly string[]): SourceFile[] {
  const declaring = parts.flatMap((part) => ("place" in part ? (fileOf(part.place) ?? []) : []));
  return [...new Set([...files, ...declaring])]
    .filter((path) => existsSync(path))
    .map((path) => ({ path, text: readFileSync(path, "utf8") }));
}

/** Puts together what modules export, each declaration once, however many files export it. */
export function gather(
  modules: readonly { readonly file: string; readonly exports: Readonly<Record<string, unknown>> }[],
  documents: readonly JsonDocument[] = [],
): Declared {
  const exported = modules.flatMap(({ exports }) => Object.values(exports) as (Exported | undefined)[]);
  const parts = [...new Set(exported.flatMap(partsOf))];
  const batches = parts.filter(isOfKind("batch"));
  const backfills = parts.filter(isOfKind("backfill"));
  return {
    queues: parts.filter(isOfKind("queue")),
    workers: [...parts.filter(isOfKind("worker")), ...batches.map(workerOf), ...backfills.map(sliceWorkerOf)],
    timings: parts.filter(isOfKind("timing")).map(({ declaration }) => declaration),
    machines: documents.filter((document) => !isOfEcs(document)),
    ecs: documents.filter(isOfEcs),
    services: parts.filter(isOfKind("service")),
    batches,
    backfills,
    commands: parts.filter(isOfKind("command")),
    migrations: [...new Set(exported.flatMap(foldersOf))].flatMap((folder) =>
      readMigrationFiles(new URL(folder)),
    ),
    schedules: parts.filter(isOfKind("schedule")),
    streams: parts.filter(isOfKind("stream")),
    endpoints: parts.filter(isOfKind("http")),
    consumers: parts.filter(isOfKind("consumer")),
    workflows: parts.filter(isOfKind("workflow")),
    reconciliations: parts.filter(isOfKind("reconciliation")),
    alarms: parts.filter(isOfKind("alarm")),
    providers: parts.filter(isOfKind("provider")),
    sources: sourcesOf(
      parts,
      modules.map(({ file }) => file),
    ),
  };
}

/** Below the folder of the declaration or one above it, as runbooks stand beside the code or at the root. */
function runbookExists(runbook: string, place: string | undefined): boolean {
  if (URL.canParse(runbook) || !/\.\w+$/.test(runbook)) return true;
  let folder = dirname(fileOf(place) ?? resolve("x"));
  for (;;) {
    if (existsSync(join(folder, runbook))) return true;
    const above = dirname(folder);
    if (above === folder) return existsSync(resolve(runbook));
    folder = above;
  }
}

/** The reason that the declaration gives for breaking the rule. */
function acceptedReason(
  { queues, workers, timings, workflows }: Declared,
  { name, rule }: Sighting,
): string | null {
  const declarations = [
    ...queues.filter((queue) => queue.name === name).map(({ options }) => options),
    ...workers.filter(({ queue }) => queue.name === name).map(({ options }) => options),
    ...timings.filter((timing) => timing.name === name),
    ...workflows.filter((workflow) => workflow.name === name).map(({ options }) => options),
  ];
  return declarations.map(({ accepts }) => accepts?.[rule]).find((reason) => reason) ?? null;
}

const ranks: Record<Severity, number> = { error: 0, warning: 1, advice: 2 };

/** Every finding, what is worst first. */
export function check(declared: Declared): Finding[] {
  const sightings = [
    ...checkTimes(declared),
    ...checkEffects(declared),
    ...checkCapacity(declared),
    ...checkOwners(declared, runbookExists),
    ...declared.machines.flatMap(checkMachine),
    ...checkReconciled(declared),
    ...checkAlarms(declared),
    ...checkTasks(declared),
    ...checkServices(declared),
    ...checkWindows(declared),
    ...checkConsumers(declared),
    ...checkBatches(declared),
    ...checkBackfills(declared),
    ...checkMigrations(declared),
  ];
  return sightings
    .map((sighting) => {
      const { severity, why, fix } = rules[sighting.rule];
      return { severity, why, fix, ...sighting, accepted: acceptedReason(declared, sighting) };
    })
    .toSorted((a, b) => ranks[a.severity] - ranks[b.severity]);
}

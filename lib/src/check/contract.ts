// What `tuntas check` sees and says. Pure: declarations come in, findings come out.
import type { EndpointDefinition } from "../outbox/contract.ts";
import type { AlarmDefinition } from "../alarm/index.ts";
import type { JsonObject } from "../asl/index.ts";
import type { QueueDefinition, WorkerDefinition } from "../queue/declaration.ts";
import type {
  MeasuredP99,
  Provider,
  Reconciliation,
  TimedValue,
  TimingDeclaration,
} from "../ledger/index.ts";
import type { BackfillDefinition } from "../batch/backfill/contract.ts";
import type { BatchDefinition } from "../batch/contract.ts";
import type { CommandDefinition } from "../operation/command/contract.ts";
import type { ScheduleDefinition } from "../schedule/contract.ts";
import type { ServiceDefinition } from "../service/contract.ts";
import type { ConsumerDefinition, StreamDefinition } from "../stream/contract.ts";
import type { WorkflowDefinition } from "../workflow/declaration.ts";
import type { RuleId } from "./rules.ts";

/** `error`: it will go wrong. `warning`: it goes wrong on a bad day. `advice`: it could be better; the exit status stays 0. */
export type Severity = "error" | "warning" | "advice";

export interface Rule {
  readonly severity: Severity;
  /** What is looked for, in one sentence. */
  readonly smell: string;
  /** What happens to those who have it. */
  readonly why: string;
  readonly fix: string;
}

/** A JSON file: a state machine, or a document of ECS. */
export interface JsonDocument {
  readonly name: string;
  readonly place: string;
  readonly text: string;
}

/** A source file, for what shows nowhere but in its text. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** A migration of an application. */
export interface MigrationFile {
  readonly name: string;
  readonly place: string;
  /** Without what is quoted in them. */
  readonly statements: readonly string[];
}

/** All that is looked at, together: what one file says of a queue may complete what another says. */
export interface Declared {
  readonly queues: readonly QueueDefinition[];
  readonly workers: readonly WorkerDefinition[];
  readonly timings: readonly TimingDeclaration[];
  readonly machines: readonly JsonDocument[];
  /** Task definitions, services and scalable targets of ECS. */
  readonly ecs: readonly JsonDocument[];
  readonly services: readonly ServiceDefinition[];
  readonly batches: readonly BatchDefinition[];
  readonly backfills: readonly BackfillDefinition[];
  readonly commands: readonly CommandDefinition[];
  readonly migrations: readonly MigrationFile[];
  readonly schedules: readonly ScheduleDefinition[];
  readonly streams: readonly StreamDefinition[];
  readonly endpoints: readonly EndpointDefinition[];
  readonly consumers: readonly ConsumerDefinition[];
  readonly workflows: readonly WorkflowDefinition[];
  readonly reconciliations: readonly Reconciliation[];
  readonly alarms: readonly AlarmDefinition[];
  readonly providers: readonly Provider[];
  readonly sources: readonly SourceFile[];
  /** What handlers were seen to take, by queue or "workflow/task", where somebody has looked. */
  readonly measured?: ReadonlyMap<string, MeasuredP99>;
  /** How long the last jobs of batches took, by batch, the oldest first, where somebody has looked. */
  readonly runsMs?: ReadonlyMap<string, readonly number[]>;
}

/** What a detector saw. The rule says the rest. */
export interface Sighting {
  readonly rule: RuleId;
  /** Whose it is: a queue, a worker, a machine. */
  readonly name: string;
  readonly place: string | undefined;
  /** What was found, with its numbers. */
  readonly message: string;
  /** Where it can be said more exactly than in the rule. */
  readonly fix?: string;
  readonly severity?: Severity;
  readonly values?: readonly TimedValue[];
}

export interface Finding extends Sighting {
  readonly severity: Severity;
  readonly why: string;
  readonly fix: string;
  /** The reason that the declaration gives for breaking the rule; null where it gives none. */
  readonly accepted: string | null;
}

/** A state machine's definition, parsed. */
export type Definition = JsonObject;

// What a caller of the service room sees: what a service is declared by, how it stands, and the error codes. Times,
// limits and the roll-out have the meaning, and where ECS has one the name, of an ECS task definition and service.
import { catalogue } from "../core/error.ts";
import type { Duration } from "../core/duration.ts";
import type { NotedDecision, Scaling, ScalingRule } from "./scaling/contract.ts";

export * from "./scaling/contract.ts";

export const serviceKinds = [
  "rest",
  "grpc",
  "websocket",
  "consumer-group",
  "scheduler",
  "rule-engine",
  "daemon",
] as const;
export type ServiceKind = (typeof serviceKinds)[number];

/** What it is given, and what it may not exceed. */
export interface Bounds {
  readonly request: number;
  readonly limit: number;
}

export type Run =
  /** A JavaScript module, run by this Node; its path is taken from the file that declares the service. */
  | { readonly module: string; readonly args?: readonly string[] }
  | { readonly command: readonly [string, ...string[]] };

/** How an instance is asked whether it is ready. */
export type Probe =
  /** A path that answers 200 to 399, such as `/readyz`. */
  | { readonly http: string }
  /** Its port takes connections. */
  | { readonly tcp: true }
  /** A command that exits 0; it has the instance's environment. */
  | { readonly command: readonly [string, ...string[]] }
  /**
   * A process that opens Tuntas: its heartbeat is in the database. It is there a moment before everything is open, so the
   * process answers SIGTERM from its beginning, as `runApp` does.
   */
  | { readonly presence: true };

/** ECS' health check: unhealthy after so many failures in a row, healthy after one success. */
export type HealthCheck = Probe & {
  readonly interval: Duration;
  readonly timeout: Duration;
  readonly retries: number;
  /** Failures do not count so long after the start. */
  readonly startPeriod?: Duration;
};

/** ECS' deployment alarms. One that was in alarm before is not counted until it goes off anew. */
export interface DeploymentAlarms {
  /** Declared ones, or the names of shipped ones. */
  readonly names: readonly (string | { readonly name: string })[];
  readonly rollback: boolean;
  /** How long they stay quiet after all is healthy; as long as the slowest of them looks back by default. */
  readonly bakeTime?: Duration;
}

export interface Rollout {
  /** So many percent of the desired count stay healthy, rounded up. */
  readonly minimumHealthyPercent: number;
  /** No more than so many percent of the desired count run at a time, rounded down. */
  readonly maximumPercent: number;
  /** Gives up after max(3, min(200, half of the desired count)) failures in a row; `rollback` then deploys the last completed revision. */
  readonly circuitBreaker: { readonly rollback: boolean } | "off";
  /** One of these that goes off meanwhile fails the deployment. */
  readonly alarms?: DeploymentAlarms;
  /** An instance's health is not judged so long after its start. */
  readonly healthCheckGracePeriod?: Duration;
  /** How long an instance still serves after the front sends it nothing new; 1s by default for one with a port. */
  readonly deregistrationDelay?: Duration;
}

export interface ServiceOptions {
  readonly kind: ServiceKind;
  readonly run: Run;
  readonly environment?: Readonly<Record<string, string>>;
  /** Of what is run: a commit, a digest. A new one is a new revision. */
  readonly version?: string;
  /** Each instance listens on a port of its own, which it is given in this variable. */
  readonly port?: { readonly variable: string };
  /** CPU units; 1024 are one processor. */
  readonly cpu: Bounds;
  /** MiB. An instance that exceeds the limit is killed and replaced. */
  readonly memory: Bounds;
  /** Database connections that an instance may hold at once; those of a process of Tuntas by default. */
  readonly connections?: number;
  /** From SIGTERM to SIGKILL; at most 120s. */
  readonly stopTimeout: Duration;
  readonly healthCheck: HealthCheck;
  readonly rollout: Rollout;
  readonly scaling: Scaling;
}

export interface ServiceDefinition {
  readonly kind: "service";
  readonly name: string;
  readonly options: ServiceOptions;
  /** Where it is declared, as file:line, if the stack says so. */
  readonly place: string | undefined;
}

/** A definition as a revision keeps it: every time in ms, every path absolute. */
export interface Revision {
  readonly kind: ServiceKind;
  readonly run: Run;
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly version: string | null;
  readonly portVariable: string | null;
  readonly cpu: Bounds;
  readonly memory: Bounds;
  readonly connections?: number;
  readonly stopTimeoutMs: number;
  readonly healthCheck: CheckTimes & { readonly probe: Probe };
  readonly rollout: RolloutTimes;
  readonly scaling: ScalingRule;
}

export interface CheckTimes {
  readonly intervalMs: number;
  readonly timeoutMs: number;
  readonly retries: number;
  /** What fails before does not count. */
  readonly graceMs: number;
}

export interface RolloutTimes {
  readonly minimumHealthyPercent: number;
  readonly maximumPercent: number;
  readonly circuitBreaker: { readonly rollback: boolean } | null;
  readonly alarms?: AlarmTimes;
  readonly deregistrationDelayMs: number;
}

export interface AlarmTimes {
  readonly names: readonly string[];
  readonly rollback: boolean;
  /** Null where it follows from the alarms. */
  readonly bakeMs: number | null;
}

export type InstanceState = "starting" | "running" | "stopping" | "stopped";
export type Health = "unknown" | "healthy" | "unhealthy";
export type DeploymentState = "in_progress" | "completed" | "failed" | "superseded";

/** Why an instance stops. The first four are failures of its own and count. */
export type StopReason =
  | "exited"
  | "unhealthy"
  | "memory"
  | "start_failed"
  | "deployment"
  | "scale_in"
  | "person"
  | "controller"
  | "lost"
  | "moved";

export interface Instance {
  readonly id: string;
  readonly service: string;
  readonly deploymentId: string;
  readonly revision: number;
  readonly host: string;
  readonly state: InstanceState;
  readonly health: Health;
  readonly port: number | null;
  readonly pid: number | null;
  readonly identity: string | null;
  readonly startedAtMs: number;
  readonly stoppingAtMs: number | null;
  readonly terminatedAtMs: number | null;
  readonly killedAtMs: number | null;
  readonly stoppedAtMs: number | null;
  readonly stopReason: StopReason | null;
  readonly exit: string | null;
  /** The resident memory of its whole process group; null before it was measured. */
  readonly memoryBytes: number | null;
  /** On average since the measurement before; null before there were two. */
  readonly cpuUnits: number | null;
  readonly measuredAtMs: number | null;
}

export interface Deployment {
  readonly id: string;
  readonly service: string;
  readonly revision: number;
  readonly state: DeploymentState;
  readonly rollbackOf: string | null;
  readonly failures: number;
  readonly actor: string;
  readonly reason: string | null;
  readonly startedAtMs: number;
  /** When all was healthy first, where its alarms are to stay quiet for a while after that. */
  readonly steadyAtMs: number | null;
  readonly endedAtMs: number | null;
}

/** A definition with its number. */
export interface NumberedRevision {
  readonly revision: number;
  readonly registeredAtMs: number;
  readonly definition: Revision;
}

export interface ServiceSummary {
  readonly name: string;
  readonly kind: ServiceKind;
  readonly host: string;
  readonly active: boolean;
  readonly desired: number;
  readonly running: number;
  readonly healthy: number;
  readonly revision: number;
  readonly deployment: DeploymentState;
  /** The deployment that this one undoes; null where it is none of that kind. */
  readonly rollbackOf: string | null;
  /** Instances that failed since the last one that became healthy. */
  readonly failures: number;
  /** False where no process runs the services of its machine: nothing is started or replaced. */
  readonly controlled: boolean;
}

export interface ServiceReport extends ServiceSummary {
  readonly definition: Revision;
  /** What its scaling rule came to last; null before it was asked, and where it is fixed. */
  readonly decision: NotedDecision | null;
  /** The newest first, as deployments are. */
  readonly revisions: readonly NumberedRevision[];
  readonly deployments: readonly Deployment[];
  readonly instances: readonly Instance[];
}

export interface ServiceEvent {
  readonly id: string;
  readonly atMs: number;
  readonly event: string;
  readonly deploymentId: string | null;
  readonly instanceId: string | null;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** One that a deployment started, and what became of it. */
export interface BatchInstance {
  readonly id: string;
  readonly startedAtMs: number | null;
  /** When it was healthy first. */
  readonly healthyAtMs: number | null;
  readonly stoppedAtMs: number | null;
  readonly stopReason: StopReason | null;
}

/** Instances that were started together, and the earlier ones that went once they were healthy. */
export interface Batch {
  readonly atMs: number;
  readonly instances: readonly BatchInstance[];
  readonly replaced: readonly string[];
}

export interface DeploymentReport extends Deployment {
  readonly batches: readonly Batch[];
}

export interface Act {
  readonly actor: string;
  readonly reason?: string | undefined;
}

/** `unchanged`: the revision runs already, or is on its way. */
export interface Deployed {
  readonly status: "created" | "unchanged";
  readonly deployment: Deployment;
}

/** What deployments need to know of alarms, which live on a floor above. */
export interface AlarmsWatched {
  /** Those of these that there are. */
  standing(names: readonly string[]): Promise<readonly AlarmStanding[]>;
}

export interface AlarmStanding {
  readonly name: string;
  /** So long after something goes wrong it has gone off. */
  readonly windowMs: number;
  readonly firing: readonly { readonly subject: string; readonly sinceMs: number; readonly reason: string }[];
}

export interface Endpoint {
  readonly instanceId: string;
  readonly host: string;
  readonly port: number;
}

export const serviceErrors = catalogue({
  TUNTAS_SERVICE_OPTIONS: {
    meaning: "The declaration of a service leaves out what must be said, or says what cannot be.",
    remedy:
      "Say what the message names: a service without limits, health check and scaling rule is not deployed.",
  },
  TUNTAS_SERVICE_REGISTERED: {
    meaning: "Two services of an application have the same name.",
    remedy: "Give one of them another name.",
  },
  TUNTAS_SERVICE_MISSING: {
    meaning: "There is no service of that name, or the application does not declare it.",
    remedy: "See them with `tuntas service list`; `tuntas service deploy NAME --app FILE` makes one.",
  },
  TUNTAS_SERVICE_REVISION: {
    meaning: "The service has no such revision, or none to go back to.",
    remedy: "See its deployments with `tuntas service describe NAME`.",
  },
  TUNTAS_SERVICE_ALARM: {
    meaning: "A service ties its deployments to an alarm that nobody has declared.",
    remedy:
      "Declare it in the same application, or name one that `tuntas alarm list` shows: one that is not there never goes off.",
  },
  TUNTAS_SERVICE_DEPLOYMENT: {
    meaning: "The service has no such deployment.",
    remedy: "See its deployments with `tuntas service describe NAME`.",
  },
  TUNTAS_SERVICE_INSTANCE: {
    meaning: "The service has no such instance, or none that runs where it is to be stopped.",
    remedy: "See its instances with `tuntas service describe NAME`.",
  },
  TUNTAS_SERVICE_OUTPUT: {
    meaning: "What an instance printed is not to be read from here.",
    remedy:
      "Ask on the service's machine, with the TUNTAS_DATA_DIR of its `tuntas service run`; of instances that ended the last ten are kept.",
  },
  TUNTAS_SERVICE_COUNT: {
    meaning: "A service cannot have that many instances.",
    remedy: "Choose a count within the scaling rule of its revision, or deploy another rule.",
  },
  TUNTAS_SERVICE_UNCONTROLLED: {
    meaning: "No process runs the services of that machine, so that nothing is started or replaced.",
    remedy: "Start `tuntas service run` there, with the same database.",
    retryable: true,
  },
  TUNTAS_SERVICE_PORT_TAKEN: {
    meaning: "The port that a front is to listen on belongs to another process.",
    remedy: "Choose another with --port, or end that process.",
  },
});

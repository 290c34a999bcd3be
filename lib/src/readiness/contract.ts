// What `tuntas readiness` sees and says. Pure: facts come in, lines come out.
import type { AlarmReport } from "../alarm/index.ts";
import type { Declared, Finding } from "../check/index.ts";
import type { Finding as Examined } from "../doctor/index.ts";
import type { CommandDefinition, Checked } from "../operation/command/contract.ts";
import type { WorkerDefinition } from "../queue/declaration.ts";
import type { ServiceDefinition, ServiceReport } from "../service/contract.ts";
import type { WorkflowDefinition } from "../workflow/declaration.ts";

export const listNames = ["api", "worker", "workflow", "command", "platform"] as const;
export type ListName = (typeof listNames)[number];

/** What a person has answered, in the application's code: it is reviewed, has a date, and grows old. */
export interface PersonsAnswer {
  readonly answer: string;
  /** Who stands for it. */
  readonly by: string;
  /** `YYYY-MM-DD`; half a year later it is asked again. */
  readonly on: string;
}

export interface ReadinessDefinition {
  readonly kind: "readiness";
  readonly list: ListName;
  /** The name of the service, queue, workflow or command; empty of the platform. */
  readonly of: string;
  readonly answers: Readonly<Record<string, PersonsAnswer>>;
}

/** What an instance answered when it was asked now. */
export interface Probed {
  readonly url: string;
  /** Of its readiness path; null where nothing answered. */
  readonly status: number | null;
  /** Whether the answer bears the correlation id that it was asked with. */
  readonly correlated: boolean;
  /** Whether `/metrics` counts requests and how long they take. */
  readonly measured: boolean;
}

export interface LiveService {
  readonly report: ServiceReport;
  readonly probed: Probed | null;
}

/** A drill that was run: its report on this disk. */
export interface Drilled {
  readonly drill: string;
  readonly asExpected: boolean;
  readonly startedAt: string;
}

export type Found = Pick<Finding, "rule" | "name" | "message">;

export interface Facts {
  readonly declared: Declared;
  /** What `tuntas check` finds in it, and in the states of its workflows, and no declaration accepts. */
  readonly findings: readonly Found[];
  readonly answers: readonly ReadinessDefinition[];
  /** By name; those that are deployed. */
  readonly services: ReadonlyMap<string, LiveService>;
  readonly alarms: readonly AlarmReport[];
  /** What `tuntas command check` says, by command. */
  readonly commands: ReadonlyMap<string, readonly Checked[]>;
  readonly drills: readonly Drilled[];
  readonly examined: readonly Examined[];
  /** `YYYY-MM-DD`: an answer of before that day is asked again. */
  readonly answeredSince: string;
}

/** What a machine saw: that it is so, that it is not, or that it cannot tell. */
export interface Evidence {
  readonly verdict: "met" | "unmet" | "unknown";
  /** What was looked at. */
  readonly looked: string;
  readonly found: string;
}

export interface Item<Of> {
  readonly id: string;
  /** As a checklist says it. */
  readonly says: string;
  /** Asked of a person where no machine can tell. */
  readonly asks: string;
  readonly look?: (of: Of, facts: Facts) => Evidence;
}

export interface Line {
  readonly id: string;
  readonly says: string;
  readonly status: "met" | "answered" | "unmet" | "open";
  readonly looked: string;
  readonly found: string;
  /** The question that nobody has answered; null where none is open. */
  readonly asks: string | null;
}

export interface Checklist {
  readonly list: ListName;
  /** Empty of the platform. */
  readonly of: string;
  readonly ready: boolean;
  readonly lines: readonly Line[];
}

export type ApiOf = ServiceDefinition;
export type WorkerOf = WorkerDefinition;
export type WorkflowOf = WorkflowDefinition;
export type CommandOf = CommandDefinition;

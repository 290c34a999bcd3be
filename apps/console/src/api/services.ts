import type {
  Batch,
  BatchInstance,
  Deployed,
  Deployment,
  Instance,
  NumberedRevision,
  Output,
  Revision,
  ServiceEvent,
  ServiceReport,
  ServiceSummary,
} from "tuntas/service";
import type { None, Reasoned } from "./basics.ts";

export type { Deployment, Output, Revision, ServiceEvent, ServiceSummary };

/** What runs, without the values of its environment: some are secrets. */
export interface RevisionView extends Omit<NumberedRevision, "definition"> {
  readonly definition: Omit<Revision, "environment">;
  /** What is different from the one before it, in words; empty where it is the first, or the same again. */
  readonly changes: readonly string[];
}

/** Why it stopped, in words; null where it has not. */
interface Ended {
  readonly ended: string | null;
}

export type InstanceView = Instance & Ended;

export interface BatchView extends Omit<Batch, "instances"> {
  readonly instances: readonly (BatchInstance & Ended)[];
}

export interface DeploymentView extends Deployment {
  readonly batches: readonly BatchView[];
}

/** A change of how many there are to be, or what was against one. */
export interface ScaledView {
  readonly id: string;
  readonly atMs: number;
  readonly from: number;
  readonly to: number;
  readonly by: string;
  /** Null where it was a person. */
  readonly why: string | null;
}

export interface ServiceView extends Omit<
  ServiceReport,
  "definition" | "revisions" | "instances" | "decision"
> {
  readonly current: RevisionView;
  readonly revisions: readonly RevisionView[];
  readonly instances: readonly InstanceView[];
  /** The newest deployment. */
  readonly rollout: DeploymentView;
  /** The scaling rule, in words. */
  readonly rule: string;
  /** The newest first. */
  readonly scaled: readonly ScaledView[];
  /** What the rule came to last, in words, with each figure that it saw; null before it was asked. */
  readonly decision: {
    readonly atMs: number;
    readonly text: string;
    readonly figures: Readonly<Record<string, string>>;
  } | null;
}

interface ServiceName {
  readonly service: string;
}

export interface ServiceReads {
  services: { query: None; answer: readonly ServiceSummary[] };
  service: { query: ServiceName; answer: ServiceView };
  "service.deployment": { query: ServiceName & { readonly id: string }; answer: DeploymentView };
  "service.log": { query: ServiceName; answer: { readonly items: readonly ServiceEvent[] } };
  /** Takes more than looking: what programs print may hold what fields of payloads are masked for. */
  "service.output": { query: ServiceName & { readonly id: string }; answer: Output };
}

/** It is on record; the controller of the service's machine does it. */
interface Told {
  readonly desired: number;
  readonly controlled: boolean;
}

export interface ServiceActs {
  /** A revision that it has had; `force` replaces the instances though it runs already. */
  "service.deploy": {
    body: ServiceName & Reasoned & { readonly revision: number; readonly force?: boolean };
    answer: Deployed;
  };
  "service.rollback": { body: ServiceName & Reasoned; answer: Deployed };
  "service.scale": { body: ServiceName & Reasoned & { readonly count: number }; answer: Told };
  "service.stop": { body: ServiceName & Reasoned; answer: Told };
  "service.stop-instance": { body: ServiceName & Reasoned & { readonly id: string }; answer: Told };
}

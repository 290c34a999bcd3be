// What an estimate of costs is made of, and what it says. Pure: facts, figures and prices come in, lines come out.
import { catalogue } from "../core/error.ts";
import type { JsonObject } from "../asl/index.ts";
import type { TaskSize } from "../service/size.ts";
import type { Figures } from "./figures.ts";
import type { PriceTable } from "./prices.ts";

/** What the work itself is paid for. */
export const workDrivers = [
  "compute",
  "idle polling",
  "queue calls",
  "NAT traffic",
  "logs",
  "metrics",
  "transitions",
  "images",
  "data transfer",
] as const;

/** What stands around it and is paid for by the hour. */
export const standingDrivers = ["load balancers", "NAT gateways", "endpoints"] as const;

export type Driver = (typeof workDrivers)[number] | (typeof standingDrivers)[number];

/** Where a figure is from: seen here, declared in code, given in the file of figures, or taken for granted. */
export type Basis = "measured" | "declared" | "given" | "assumed";

export interface Quantity {
  readonly value: number;
  readonly basis: Basis;
}

/** A service as its cost needs it. */
export interface CostedService {
  readonly name: string;
  readonly kind: string;
  readonly size: TaskSize;
  readonly least: number;
  /** Whether it is scaled by the backlog of this queue; null where it is not by any. */
  readonly queue: string | null;
}

/** A state machine as its cost needs it. */
export interface CostedMachine {
  readonly name: string;
  readonly definition: JsonObject;
}

export interface QueueUse {
  /** In the time that was measured. */
  readonly sent: number;
  readonly received: number;
  /** Hours of it in which nothing was received, of all hours: 0 to 1. */
  readonly idleShare: number;
  /** Processes whose worker takes from it, on average. */
  readonly processes: number;
}

export interface ServiceUse {
  /** Instances that ran, on average. */
  readonly instances: number;
  /** Of one instance, in the busiest hour. */
  readonly cpuUnits: number;
  readonly memoryMiB: number;
}

export interface WorkflowUse {
  /** In the time that was measured. */
  readonly executions: number;
  /** States entered and retries, of an execution on average; null where none has ended lately. */
  readonly transitionsEach: number | null;
}

/** What was seen, in so many hours; nothing where that is 0. */
export interface Measured {
  readonly hours: number;
  readonly queues: ReadonlyMap<string, QueueUse>;
  readonly services: ReadonlyMap<string, ServiceUse>;
  readonly workflows: ReadonlyMap<string, WorkflowUse>;
  readonly requests: number;
  readonly logBytes: ReadonlyMap<string, number>;
  /** Series that are kept, by metric. */
  readonly series: ReadonlyMap<string, number>;
  /** Calls of what stands outside. */
  readonly calls: number;
  /** Instances that were started. */
  readonly starts: number;
}

export interface CostFacts {
  readonly services: readonly CostedService[];
  readonly queues: readonly string[];
  readonly machines: readonly CostedMachine[];
  /** Metrics that somebody relies upon, with who that is. */
  readonly needed: ReadonlyMap<string, string>;
  readonly measured: Measured;
  readonly figures: Figures;
  readonly prices: PriceTable;
}

export interface CostLine {
  readonly driver: Driver;
  /** A month, in the currency of the prices. */
  readonly cost: number;
  /** Of all that is estimated: 0 to 1. */
  readonly share: number;
  /** What is paid for, in words. */
  readonly quantity: string;
  /** Where its figures are from, the most certain first. */
  readonly basis: readonly Basis[];
}

export interface Saving {
  readonly driver: Driver;
  /** A month. */
  readonly saves: number;
  readonly what: string;
}

export interface Estimate {
  readonly currency: string;
  readonly region: string;
  readonly asOf: string;
  readonly hours: number;
  readonly measuredHours: number;
  readonly work: readonly CostLine[];
  readonly standing: readonly CostLine[];
  readonly total: number;
  /** What saves most first. */
  readonly savings: readonly Saving[];
}

export const costErrors = catalogue({
  TUNTAS_COST_PRICES: {
    meaning: "A table of prices is not complete, or says something that is no price.",
    remedy: "Begin with `tuntas cost prices`, which prints a whole table, and replace its numbers.",
  },
  TUNTAS_COST_FIGURES: {
    meaning: "A file of figures for an estimate of costs has a name that nobody knows, or no number.",
    remedy: "Write a flat JSON object of numbers; the names are in docs/operate/costs.md.",
  },
  TUNTAS_COST_EVIDENCE: {
    meaning:
      "A saving was asked for that would remove what shows that data is being lost, doubled or corrupted.",
    remedy:
      "Leave the metric. Right-size instances and correct what they are scaled by first; drop labels that nobody watches.",
  },
  TUNTAS_COST_METRIC: {
    meaning: "A saving was asked for by leaving out a metric that there is none of.",
    remedy: "Take a name of docs/reference/metrics.md.",
  },
});

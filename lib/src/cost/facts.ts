// What an estimate is made from: declarations, else what is deployed; what was measured; figures and prices.
import type { JsonObject } from "../asl/index.ts";
import type { Declared } from "../check/index.ts";
import type { Platform } from "../platform.ts";
import type { Revision } from "../service/contract.ts";
import { revisionOf } from "../service/declaration.ts";
import { taskSize } from "../service/size.ts";
import type { CostedMachine, CostedService, CostFacts } from "./contract.ts";
import { neededMetrics } from "./evidence.ts";
import type { Figures } from "./figures.ts";
import { readMeasured } from "./measured.ts";
import type { PriceTable } from "./prices.ts";

type Costed = Pick<Revision, "kind" | "cpu" | "memory" | "scaling">;

function serviceOf(name: string, { kind, cpu, memory, scaling }: Costed): CostedService {
  const { target } = scaling;
  return {
    name,
    kind,
    // What is larger than any size is counted as it is declared.
    size: taskSize({ cpu, memory }) ?? { cpu: cpu.limit, memoryMiB: memory.limit },
    least: scaling.min,
    queue: target && "queue" in target ? target.queue : null,
  };
}

/** Those that the application declares, else those that are deployed. */
async function servicesOf(
  { services }: Platform,
  declared: Declared["services"],
): Promise<readonly CostedService[]> {
  if (declared.length > 0) return declared.map((each) => serviceOf(each.name, revisionOf(each)));
  const active = (await services.list()).filter((each) => each.active);
  return Promise.all(
    active.map(async ({ name }) => serviceOf(name, (await services.describe(name)).definition)),
  );
}

const machinesOf = ({ workflows, machines }: Declared): readonly CostedMachine[] => [
  ...workflows.map(({ name, definition }) => ({ name, definition: definition as JsonObject })),
  ...machines.map(({ name, text }) => ({ name, definition: JSON.parse(text) as JsonObject })),
];

export interface CostOptions {
  readonly declared: Declared;
  /** Of measured figures; 7 by default, 15 are kept. */
  readonly days: number;
  readonly figures: Figures;
  readonly prices: PriceTable;
}

/** Changes nothing. */
export async function readCostFacts(platform: Platform, options: CostOptions): Promise<CostFacts> {
  const { declared, days, figures, prices } = options;
  const [services, measured] = await Promise.all([
    servicesOf(platform, declared.services),
    readMeasured(platform, days),
  ]);
  return {
    services,
    queues: declared.workers.map(({ queue }) => queue.name),
    machines: machinesOf(declared),
    needed: neededMetrics(declared.alarms),
    measured,
    figures,
    prices,
  };
}

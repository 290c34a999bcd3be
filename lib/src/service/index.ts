// The door of the service room: `tuntas/service`.
import { hostname } from "node:os";
import type { Log } from "../engine/log.ts";
import type { Waker } from "../engine/wake.ts";
import type { Sql } from "../pg/contract.ts";
import type { Queues } from "../queue/client/index.ts";
import type { TimeSeries } from "../series/client.ts";
import type { Services } from "./client.ts";
import type { AlarmsWatched } from "./contract.ts";
import { outputsDefault } from "./output.ts";
import { makeFigures, makeRequests } from "./scaling/figures.ts";
import { startController, type Controller } from "./worker/index.ts";

export * from "./contract.ts";
export { budgetOf, checkConnections, type BudgetLine, type ConnectionBudget } from "./budget.ts";
export { serviceKey, type DeployOptions, type Services } from "./client.ts";
export { revisionOf, service } from "./declaration.ts";
export { roomOf } from "./state.ts";
export { openFront, type Front, type FrontOptions } from "./front/index.ts";
export { outputsDefault, type Output } from "./output.ts";
export { serviceSignals } from "./signals.ts";
export { capOf } from "./scaling/state.ts";
export { ruleOf } from "./scaling/declaration.ts";
export { decisionText, figureTexts, reasonText, ruleText } from "./scaling/words.ts";
export { taskSize, type TaskSize } from "./size.ts";
export { stopText } from "./words.ts";
export type { LogFilter } from "./store/events.ts";
export type { Controller } from "./worker/index.ts";

/** What of a platform a controller needs. */
export interface ServicesPlatform {
  readonly database: Sql;
  readonly waker: Waker;
  readonly queues: Queues;
  readonly series: Pick<TimeSeries, "readAll">;
  readonly services: Services;
  readonly alarms: AlarmsWatched;
  readonly log: Pick<Log, "info" | "warn">;
  processId(): string;
  onLost(handler: () => void): void;
}

export interface ControlOptions {
  /** The machine's name; what it is by default. Two controllers on one machine need two. */
  readonly host?: string;
  /** Where what instances print goes; `services` below TUNTAS_DATA_DIR (`.tuntas`) by default. */
  readonly outputs?: string;
  readonly scaleEveryMs?: number;
}

/** Runs the services of this machine, or stands by while another process does. */
export function runServices(platform: ServicesPlatform, options: ControlOptions = {}): Controller {
  const { database, waker, queues, series, log, processId, onLost, services, alarms } = platform;
  return startController({
    database,
    waker,
    log,
    processId,
    onLost,
    announce: services.announce,
    alarms,
    figuresOf: makeFigures({ database, queues, series }),
    requestsOf: makeRequests(series),
    host: options.host ?? hostname(),
    outputs: options.outputs ?? outputsDefault(),
    ...(options.scaleEveryMs !== undefined && { scaleEveryMs: options.scaleEveryMs }),
  });
}

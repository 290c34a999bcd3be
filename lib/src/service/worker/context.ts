// What the parts of a controller share: where they are, and the one way in which they write.
import type { Log } from "../../engine/log.ts";
import type { Waker } from "../../engine/wake.ts";
import type { Sql, Tx } from "../../pg/contract.ts";
import { serviceKey } from "../client.ts";
import type { AlarmsWatched, Instance } from "../contract.ts";
import type { FiguresOf, RequestsOf } from "../scaling/figures.ts";
import type { ServiceEventName } from "../signals.ts";
import { isHeld } from "../store/control.ts";
import { publishEvents, writeEvents, type NewEvent } from "../store/events.ts";
import { dutyOf } from "../store/services.ts";

export interface ControllerOptions {
  readonly database: Sql;
  readonly waker: Waker;
  readonly log: Pick<Log, "info" | "warn">;
  readonly processId: () => string;
  readonly onLost: (handler: () => void) => void;
  readonly announce: () => void;
  readonly figuresOf: FiguresOf;
  readonly requestsOf: RequestsOf;
  readonly alarms: AlarmsWatched;
  /** This machine's name. */
  readonly host: string;
  /** Where what instances print goes: a file each. */
  readonly outputs: string;
  /** How often instances are measured and scaling rules asked; 10 s by default. */
  readonly scaleEveryMs?: number;
}

export type Tell = (event: NewEvent) => void;
/** Writes in one transaction, as long as the duty is ours. Errors: NotHolder. */
export type Write = <T>(work: (tx: Tx, tell: Tell) => Promise<T>) => Promise<T>;

/** Another process controls the services of this machine now. */
export class NotHolder extends Error {}

export function makeWrite({ database, waker, log, processId, announce, host }: ControllerOptions): Write {
  return async (work) => {
    const events: NewEvent[] = [];
    const result = await database.transaction(async (tx) => {
      if (!(await isHeld(tx, { duty: dutyOf(host), processId: processId() })))
        throw new NotHolder(`another process controls the services of ${host}`);
      const answer = await work(tx, (event) => events.push(event));
      if (events.length > 0) await writeEvents(tx, events);
      return answer;
    });
    publishEvents(events);
    for (const { event, detail, ...of } of events)
      log.info({ event: `service.${event}`, ...of, ...detail }, event);
    waker.wake(serviceKey);
    announce();
    return result;
  };
}

/** An event about an instance. */
export const eventOf = (
  { service, deploymentId, id }: Pick<Instance, "service" | "deploymentId" | "id">,
  event: ServiceEventName,
  detail: Readonly<Record<string, unknown>> = {},
): NewEvent => ({ service, event, deploymentId, instanceId: id, detail });

// Says in the database which queues this process works on. A process that was taken for dead registers again under
// another id, so the roster looks now and then whether its entry is still the right one.
import type { Log } from "../../engine/log.ts";
import type { Database } from "../../pg/database.ts";
import { insertConsumers, type Consumer } from "../store/consumer.ts";

export interface Roster {
  close(): void;
}

export interface RosterDeps {
  readonly database: Database;
  readonly processId: () => string;
  readonly log: Log;
}

const lookMs = 5000;

export function keepRoster({ database, processId, log }: RosterDeps, consumers: readonly Consumer[]): Roster {
  let enteredAs: string | undefined;

  async function enter(): Promise<void> {
    const id = processId();
    if (id === enteredAs || consumers.length === 0) return;
    enteredAs = id;
    await insertConsumers(database, id, consumers).catch((cause: unknown) => {
      enteredAs = undefined;
      log.debug({ cause }, "could not enter the roster of consumers; will try again");
    });
  }

  void enter();
  const timer = setInterval(() => void enter(), lookMs);
  timer.unref();
  return { close: () => clearInterval(timer) };
}

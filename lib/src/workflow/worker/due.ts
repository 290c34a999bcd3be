// What the clock brings: timers, timeouts and heartbeats, as events of their executions.
import { makeDueClock, type DueClock } from "../../engine/due.ts";
import type { Database } from "../../pg/database.ts";
import { happeningOf } from "../state.ts";
import * as store from "../store/calls.ts";
import type { EngineClock } from "./clock.ts";
import type { Engine } from "./engine/index.ts";

export interface DueParts {
  readonly database: Database;
  readonly clock: EngineClock;
  readonly engine: () => Engine;
  readonly processId: () => string;
  readonly onError: (cause: unknown) => void;
}

const batch = 500;

export function makeDue({ database, clock, engine, processId, onError }: DueParts): DueClock {
  async function tell(due: store.Due): Promise<void> {
    const result = await engine().dispatch(due.executionId, happeningOf(due.key)!);
    if (result === "missing") await store.dropDue(database, due);
  }

  async function move(): Promise<number | null> {
    await clock.read();
    const taken = await store.takeDue(database, processId(), batch);
    for (const each of taken) tell(each).catch(onError);
    return taken.length >= batch ? 0 : store.nextDueMs(database);
  }

  return makeDueClock({ move, onError });
}

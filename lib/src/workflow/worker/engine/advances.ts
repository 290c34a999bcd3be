// Writes advances: all that are ready at the same time share one statement and one commit, and each is told after it
// whether its own has moved.
import { isTuntasError } from "../../../core/error.ts";
import { gatherer } from "../../../core/coalesce.ts";
import type { Database } from "../../../pg/database.ts";
import { isStep, writeAdvances, type Advance } from "../../store/advance.ts";

export interface Writing {
  readonly advance: Advance;
  /** After the commit; false where the fence was lost. Must not throw. */
  readonly written: (moved: boolean) => void;
  readonly failed: (cause: unknown) => void;
}

export interface Advances {
  add(writing: Writing): void;
  idle(): Promise<unknown>;
}

const itemsMax = 200;
const bytesMax = 8 * 1024 * 1024;

const cost = ({ advance: { state, events } }: Writing): number => state.length + (events?.length ?? 0);

export function makeAdvances(database: Database): Advances {
  /** Fenced by seq, so what a collision undid may be written again. */
  async function write(items: readonly Advance[]): Promise<(item: Advance) => boolean> {
    try {
      return await writeAdvances(database, items);
    } catch (cause) {
      if (isTuntasError(cause, "TUNTAS_DATABASE_BUSY")) return writeAdvances(database, items);
      throw cause;
    }
  }

  async function flush(writings: readonly Writing[]): Promise<void> {
    try {
      const hasMoved = await write(writings.map(({ advance }) => advance));
      for (const { advance, written } of writings) written(hasMoved(advance));
    } catch (cause) {
      for (const { failed } of writings) failed(cause);
    }
  }

  // The whole turn of the event loop shares a flush: results come a few microtasks after one another.
  const gather = () =>
    gatherer<Writing>({ itemsMax, flushesMax: 2, costMax: bytesMax, cost, flush, schedule: setImmediate });
  // Apart, since the one statement is a good deal lighter than the other.
  const [steps, others] = [gather(), gather()];

  return {
    add: (writing) => (isStep(writing.advance) ? steps : others).add(writing),
    idle: () => Promise.all([steps.idle(), others.idle()]),
  };
}

// What becomes due by the clock: delays and visibility timeouts that end. Whoever writes an instant notes it here and so
// has it moved to the millisecond; what others noted, or a dead process, comes with the beat (agenda.ts).

export interface DueClock {
  /** Something becomes due in this many ms. */
  note(inMs: number): void;
  /** Moves what is due now, if the clock knows of anything. */
  catchUp(): Promise<void>;
  /** Moves what is due now, whatever the clock knows. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

export interface DueOptions {
  /** Moves what is due; answers in how many ms the next thing is (null if nothing waits). */
  readonly move: () => Promise<number | null>;
  readonly onError: (cause: unknown) => void;
}

const timerMaxMs = 2 ** 31 - 1;

export function makeDueClock({ move, onError }: DueOptions): DueClock {
  let nextAt = Infinity;
  let timer: NodeJS.Timeout | undefined;
  let sweeping: Promise<void> | undefined;
  let closed = false;

  function arm(): void {
    clearTimeout(timer);
    if (closed || nextAt === Infinity) return;
    const inMs = Math.max(0, nextAt - performance.now());
    timer = inMs > timerMaxMs ? setTimeout(arm, timerMaxMs) : setTimeout(() => void sweep(), inMs);
    timer.unref();
  }

  function note(inMs: number): void {
    const at = performance.now() + inMs;
    if (at >= nextAt) return;
    nextAt = at;
    arm();
  }

  async function once(): Promise<void> {
    nextAt = Infinity;
    try {
      const nextMs = await move();
      // The database's clock and timers both round; a look 1 ms late finds it due, one just before does not.
      if (nextMs !== null) note(Math.max(1, nextMs + 1));
    } catch (cause) {
      onError(cause);
      note(1000);
    }
  }

  async function sweep(): Promise<void> {
    if (closed) return;
    // A sweep that is under way may have looked already, so whoever asks meanwhile waits for one more.
    if (sweeping) await sweeping;
    sweeping ??= once().finally(() => {
      sweeping = undefined;
      arm();
    });
    await sweeping;
  }

  return {
    note,
    sweep,
    catchUp: async () => {
      if (nextAt <= performance.now() || sweeping) await sweep();
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await sweeping;
    },
  };
}

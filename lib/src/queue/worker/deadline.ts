// The time limit of a worker's attempts. It is the same for all of them, so they run out in the order in which they
// began, and one timer for the oldest is enough.

/** What may run out; `startedAt` is a reading of `performance.now()`. */
export interface Limited {
  readonly startedAt: number;
  expire(): void;
}

export interface Deadline {
  /** Something has begun. */
  begun(): void;
  close(): void;
}

const timerMaxMs = 2 ** 31 - 1;

/** Expires what is in `running`, in the order of its beginning; whatever is expired leaves `running` at once. */
export function makeDeadline(running: Iterable<Limited>, limitMs: number): Deadline {
  let timer: NodeJS.Timeout | undefined;

  function look(): void {
    timer = undefined;
    for (const oldest of running) {
      const leftMs = oldest.startedAt + limitMs - performance.now();
      if (leftMs > 0) return wait(leftMs);
      oldest.expire();
    }
  }

  // Timers round down, and may ring a moment early.
  function wait(ms: number): void {
    timer = setTimeout(look, Math.min(Math.ceil(ms), timerMaxMs));
  }

  return {
    begun() {
      if (timer === undefined) wait(limitMs);
    },
    close: () => clearTimeout(timer),
  };
}

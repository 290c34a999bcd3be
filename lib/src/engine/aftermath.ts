// Looking again after trouble. A lost connection may have committed a claim or a call that nobody here knows of, and a
// dead process's last statement may commit after its take-over. Nobody looks for such things all day: after trouble
// it is done soon, and again at distances that double, since what a lost connection had sent may commit late.

export interface AftermathOptions {
  readonly look: () => Promise<void>;
  readonly onError: (cause: unknown) => void;
}

export interface Aftermath {
  /** Something happened that may have left something behind. */
  trouble(): void;
  close(): Promise<void>;
}

const firstMs = 1000;
const pauseMaxMs = 64_000;

export function makeAftermath({ look, onError }: AftermathOptions): Aftermath {
  let pauseMs = Infinity;
  let dueAt = Infinity;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<boolean> | undefined;
  let closed = false;

  function lookIn(ms: number): void {
    const at = performance.now() + ms;
    if (closed || looking || at >= dueAt) return;
    dueAt = at;
    clearTimeout(timer);
    timer = setTimeout(() => void round(), ms);
    timer.unref();
  }

  async function round(): Promise<void> {
    dueAt = Infinity;
    looking = look().then(
      () => true,
      (cause: unknown) => {
        onError(cause);
        return false;
      },
    );
    const looked = await looking;
    looking = undefined;
    // Who could not look does not stop looking.
    if (!looked) pauseMs = Math.min(pauseMs, pauseMaxMs);
    if (pauseMs > pauseMaxMs) return;
    lookIn(pauseMs);
    pauseMs *= 2;
  }

  return {
    trouble() {
      pauseMs = firstMs;
      lookIn(firstMs);
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await looking;
    },
  };
}

/**
 * For looks that compare what the database has with what is known here: of what was found, that which was found at the
 * look before too. What was on its way then has arrived since.
 */
export function makeTwice<T>(nameOf: (item: T) => string): (found: readonly T[]) => T[] {
  let before = new Set<string>();
  return (found) => {
    const again = found.filter((item) => before.has(nameOf(item)));
    before = new Set(found.map(nameOf));
    return again;
  };
}

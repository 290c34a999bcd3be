// Looking again after trouble. A lost connection may have committed a claim or a call that nobody here knows of, and a
// dead process's last statement may commit after its take-over. Nobody looks for such things all day: after trouble
// it is done soon, and again until some time has passed without more of it.

export interface Aftermath {
  /** Something happened that may have left something behind. */
  trouble(): void;
  close(): Promise<void>;
}

const firstMs = 1000;
const againMs = 5000;
const lastsMs = 15_000;

export function makeAftermath(look: () => Promise<void>): Aftermath {
  let quietAt = 0;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;
  let closed = false;

  function arm(ms: number): void {
    timer = setTimeout(() => void round(), ms);
    timer.unref();
  }

  async function round(): Promise<void> {
    looking = look();
    await looking;
    timer = undefined;
    if (!closed && performance.now() < quietAt) arm(againMs);
  }

  return {
    trouble() {
      quietAt = performance.now() + lastsMs;
      if (!timer && !closed) arm(firstMs);
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await looking;
    },
  };
}

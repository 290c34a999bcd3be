// What may run beside what in this process. Batches and suspects run side by side; a record that may have killed a process
// together with others runs when nothing else does, so that it is known of what the process dies.

export interface Isolation {
  beside<T>(work: () => Promise<T>): Promise<T>;
  alone<T>(work: () => Promise<T>): Promise<T>;
}

interface Waiting {
  readonly isAlone: boolean;
  readonly begin: () => void;
}

/** In the order of asking: what is to run alone waits for what runs, and holds up what comes after it. */
export function makeIsolation(): Isolation {
  const waiting: Waiting[] = [];
  let running = 0;
  let alone = false;

  function next(): void {
    for (let first = waiting[0]; first; first = waiting[0]) {
      if (alone || (first.isAlone && running > 0)) return;
      waiting.shift();
      running++;
      alone = first.isAlone;
      first.begin();
    }
  }

  async function run<T>(isAlone: boolean, work: () => Promise<T>): Promise<T> {
    await new Promise<void>((begin) => {
      waiting.push({ isAlone, begin });
      next();
    });
    try {
      return await work();
    } finally {
      running--;
      alone = false;
      next();
    }
  }

  return { beside: (work) => run(false, work), alone: (work) => run(true, work) };
}

// So many of a row at a time, where "so many" may change on the way.

export interface LaneOptions {
  readonly atOnce: () => number;
  /** Nothing more is begun. */
  readonly isOver: () => boolean;
  readonly each: (index: number) => Promise<void>;
}

export interface Lanes {
  /** Resolves when all that was begun has ended and nothing more is to begin; rejects likewise, with the first failure. */
  run(): Promise<void>;
  /** Begins what may begin now. */
  look(): void;
  fail(cause: unknown): void;
}

/** Does `each` for 0, 1, 2 … `total - 1`, in that order. */
export function makeLanes(total: number, { atOnce, isOver, each }: LaneOptions): Lanes {
  let next = 0;
  let active = 0;
  let failure: { readonly cause: unknown } | undefined;
  let settle: (failure: { readonly cause: unknown } | undefined) => void = () => undefined;

  async function begin(index: number): Promise<void> {
    try {
      await each(index);
    } catch (cause) {
      failure ??= { cause };
    }
    active--;
    look();
  }

  function look(): void {
    while (!failure && active < atOnce() && next < total && !isOver()) {
      active++;
      void begin(next++);
    }
    if (active === 0) settle(failure);
  }

  return {
    look,
    fail(cause) {
      failure ??= { cause };
    },
    run: () =>
      new Promise((resolve, reject) => {
        settle = (failed) => {
          if (failed) reject(failed.cause as Error);
          else resolve();
        };
        look();
      }),
  };
}

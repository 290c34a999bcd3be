// Takes own tasks that nobody has, while there is room: when somebody says that there are some, when room comes free, and
// now and then for a notification that was lost.
import type { Waker } from "../../../engine/wake.ts";
import type { Call } from "../../store/calls.ts";

export interface ClaimsOptions {
  readonly waker: Waker;
  readonly key: string;
  /** Which tasks fit, and how many. */
  readonly room: () => { readonly pools: readonly string[]; readonly limit: number };
  readonly claim: (pools: readonly string[], limit: number) => Promise<readonly Call[]>;
  /** Begins a task that was taken. Never rejects. */
  readonly begin: (call: Call) => Promise<unknown>;
  readonly onError: (cause: unknown) => void;
}

export interface Claims {
  look(): void;
  /** Room came free: looks if there was more than fitted. */
  freed(): void;
  close(): void;
}

export function makeClaims({ waker, key, room, claim, begin, onError }: ClaimsOptions): Claims {
  let looking = false;
  let closed = false;
  /** There may be more than was taken. */
  let hungry = false;

  async function claimAll(): Promise<void> {
    for (;;) {
      const { pools, limit } = room();
      if (closed || pools.length === 0 || limit <= 0) return;
      hungry = false;
      const calls = await claim(pools, limit);
      hungry ||= calls.length === limit;
      await Promise.all(calls.map(begin));
      if (!hungry) return;
    }
  }

  function look(): void {
    hungry = true;
    if (looking || closed) return;
    looking = true;
    claimAll()
      .catch(onError)
      .finally(() => (looking = false));
  }

  const unsubscribe = waker.subscribe(key, look);

  return {
    look,
    freed: () => void (hungry && look()),
    close() {
      closed = true;
      unsubscribe();
    },
  };
}

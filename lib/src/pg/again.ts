// Work that lost against somebody else's, done again.
import { isCollision } from "./faults.ts";

const triesMax = 5;

/**
 * Does it again where the database ended it for another's sake: a deadlock is nobody's fault. It must be one transaction, of
 * which nothing is left. Raises the last failure after five.
 */
export async function again<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (cause) {
      if (tries === triesMax || !isCollision(cause)) throw cause;
    }
  }
}

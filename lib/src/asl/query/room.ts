// How much a template may make. One that names its input again and again makes, out of a small definition and a small
// input, more than any memory holds; the limit for what leaves a state comes too late for that.
import type { Json } from "../contract.ts";
import { StateFailure } from "../failure.ts";
import { limits } from "../limits.ts";

/** Some times what may leave a state, since a selector often makes it smaller. */
const sizeMax = 16 * limits.dataBytes;

export class Room {
  private left: number = sizeMax;

  /** Takes up the room of a value as it is written, roughly. Throws States.DataLimitExceeded where there is none left. */
  take(value: Json): void {
    const waiting: Json[] = [value];
    for (let each = waiting.pop(); each !== undefined; each = waiting.pop()) {
      this.spend(typeof each === "string" ? each.length + 2 : 4);
      if (typeof each !== "object" || each === null) continue;
      if (Array.isArray(each)) this.push(each as readonly Json[], waiting);
      else {
        for (const key of Object.keys(each)) this.spend(key.length);
        this.push(Object.values(each as object) as Json[], waiting);
      }
    }
  }

  private push(values: readonly Json[], waiting: Json[]): void {
    if (values.length > this.left) this.spend(values.length);
    for (const value of values) waiting.push(value);
  }

  spend(size: number): void {
    this.left -= size;
    if (this.left >= 0) return;
    throw new StateFailure({
      error: "States.DataLimitExceeded",
      cause: `A template makes more than ${sizeMax} bytes, of which at most ${limits.dataBytes} may leave a state.`,
    });
  }
}

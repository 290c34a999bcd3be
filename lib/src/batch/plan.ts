// A plan is made twice and compared: a list that depends on a clock, on chance or on an order that a query leaves open would
// have other partitions after a crash.
import { requestHash } from "../ledger/index.ts";
import type { Partition } from "./contract.ts";
import { planOf, wrongPlan, type Planned } from "./state.ts";

export interface Plan {
  readonly planned: readonly Planned[];
  readonly hash: string;
}

/** Errors: what `refuse` answers, where the list is none or not the same the second time. */
export async function planTwice(
  make: () => Promise<readonly Partition[]>,
  refuse: (why: string) => Error,
): Promise<Plan> {
  const once = async () => {
    const list = await make();
    const wrong = wrongPlan(list);
    if (wrong !== undefined) throw refuse(wrong);
    const planned = planOf(list);
    if (typeof planned === "string") throw refuse(planned);
    return planned;
  };
  const [planned, again] = [await once(), await once()];
  const hash = requestHash(planned);
  if (requestHash(again) !== hash)
    throw refuse("made twice from one input, the partitions are not the same list");
  return { planned, hash };
}

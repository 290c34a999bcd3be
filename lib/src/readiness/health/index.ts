// The health of all that runs on one database, by ten conditions.
import type { Health } from "./contract.ts";
import { readHealthFacts, type Watched } from "./facts.ts";
import { healthOf } from "./state.ts";

export type { Condition, Health, HealthFacts, QueueCourse, Verdict } from "./contract.ts";
export { healthOf } from "./state.ts";

/** Looks now, and changes nothing. */
export const readHealth = async (platform: Watched): Promise<Health> =>
  healthOf(await readHealthFacts(platform));

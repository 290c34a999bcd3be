// The estimate: what every driver costs in a month, its share, and what would make it cheaper. Pure.
import { figure } from "./amounts.ts";
import type { CostFacts, Estimate } from "./contract.ts";
import { costOf, shared, standingParts, workParts } from "./lines.ts";
import { savingsOf } from "./savings.ts";

export function estimate(facts: CostFacts): Estimate {
  const { prices, measured } = facts;
  const [work, standing] = [workParts(facts), standingParts(facts)];
  const total = costOf(work) + costOf(standing);
  return {
    currency: prices.currency,
    region: prices.region,
    asOf: prices.asOf,
    hours: figure(facts, "hours").value,
    measuredHours: measured.hours,
    work: work.map(shared(total)),
    standing: standing.map(shared(total)),
    total,
    savings: savingsOf(facts),
  };
}

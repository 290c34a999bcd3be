// Which metrics are evidence: those that an alarm watches, that something is scaled by, or that alone show that data was lost,
// doubled or corrupted. They are no saving: whoever leaves them out finds out from a customer. Pure.
import { shippedAlarms, type AlarmDefinition } from "../alarm/index.ts";
import { metricEntries } from "../measure/catalogue.ts";
import { meantHint } from "../core/nearest.ts";
import { costErrors, type CostFacts, type Saving } from "./contract.ts";
import { said } from "./lines.ts";
import { sizeSavings } from "./savings.ts";

/** What no shipped alarm watches, and what each of them shows. */
const shows: Readonly<Record<string, string>> = {
  tuntas_commands_total: "a command that came twice, or twice with different contents",
  tuntas_compensations_total: "what could not be undone",
  tuntas_leases_lost_total: "an owner that went on after it had lost its lease",
  tuntas_reconciliation_repairs_total: "two sides of the truth that had to be put right",
  tuntas_side_effect_calls_total: "a call whose effect nobody knows",
  tuntas_stream_failures_total: "records that could not be handled",
  tuntas_stream_lost_total: "records that were gone before they were read",
  tuntas_worker_attempts_total: "what became of messages: done, rejected, poison, of unknown effect",
  tuntas_worker_idempotency_conflicts_total: "a key that was used again for other work",
  tuntas_worker_poison_messages_total: "messages that nobody can read",
  tuntas_workflow_executions_total: "executions that failed",
};

/** Without these nobody knows how many instances there are to be. */
const scalesBy = [
  "tuntas_queue_depth",
  "tuntas_queue_oldest_age_seconds",
  "tuntas_worker_backlog_per_worker",
];

const watchedBy = ({ name, options: { metric, and } }: AlarmDefinition): [string, string][] =>
  [metric, ...(and ? [and.metric] : [])].map((each) => [each.name, `the alarm ${name} watches it`]);

/** Metrics that somebody relies upon, with why. */
export const neededMetrics = (alarms: readonly AlarmDefinition[]): ReadonlyMap<string, string> =>
  new Map([
    ...scalesBy.map((name): [string, string] => [name, "services are scaled by it"]),
    ...Object.entries(shows).map(([name, what]): [string, string] => [name, `it shows ${what}`]),
    ...[...shippedAlarms, ...alarms].flatMap(watchedBy),
  ]);

const first = ({ what, saves }: Saving, currency: string): string =>
  `${what} (${saves.toFixed(2)} ${currency})`;

/** What may be done before, by what it saves. */
function before(facts: CostFacts): string {
  const found = sizeSavings(facts).slice(0, 2);
  return found.length === 0
    ? "right-size its instances and look at what they are scaled by"
    : found.map((each) => first(each, facts.prices.currency)).join("; ");
}

/** What leaving the metric out saves. Errors: TUNTAS_COST_EVIDENCE for one that is evidence, TUNTAS_COST_METRIC. */
export function withoutMetric(facts: CostFacts, name: string): Saving {
  if (!metricEntries.has(name))
    throw costErrors.error(
      "TUNTAS_COST_METRIC",
      `there is no metric ${JSON.stringify(name)}${meantHint(name, [...metricEntries.keys()])}`,
    );
  const why = facts.needed.get(name);
  if (why !== undefined)
    throw costErrors.error(
      "TUNTAS_COST_EVIDENCE",
      `expected a metric that nobody relies upon, got ${name}: ${why}. First: ${before(facts)}`,
    );
  const series = facts.measured.series.get(name) ?? 0;
  const saves = series * facts.prices.prices.metricMonth;
  return { driver: "metrics", saves, what: `without ${name}: ${said(series)} series` };
}

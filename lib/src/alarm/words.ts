// What an alarm's figure came to and where its bound is, in words for whoever is woken by it. Pure.
import { durationText, measuredText, tenth, toMs } from "../core/duration.ts";
import type { AlarmOptions, Condition, MetricChoice } from "./contract.ts";
import type { Period } from "./state.ts";

const bounds = { above: "more than", atLeast: "at least", below: "less than", atMost: "at most" } as const;

const isTime = ({ name }: MetricChoice): boolean => name.endsWith("_seconds");

function boundText(metric: MetricChoice, condition: Condition): string {
  const [[name, bound]] = Object.entries(condition) as [[keyof typeof bounds, number]];
  const text = isTime(metric) ? durationText(bound * 1000) : String(bound);
  return `${metric.statistic === "growth" ? "a rise of " : ""}${bounds[name]} ${text}`;
}

function figureText(metric: MetricChoice, value: number | null): string {
  if (value === null) return "no figure";
  const text = isTime(metric) ? measuredText(value * 1000) : String(tenth(value));
  return metric.statistic === "growth" ? `a rise of ${text}` : text;
}

function boundsText({ metric, when, and }: AlarmOptions): string {
  const also = and && ` while ${and.metric.name} is ${boundText(and.metric, and.when)}`;
  return `${boundText(metric, when)}${also ?? ""}`;
}

const named: Readonly<Record<string, string>> = { "1m": "minute", "1h": "hour" };

/** What a period is called, one and many. */
function periodWords({ period = "1m" }: AlarmOptions): readonly [one: string, many: string] {
  const text = durationText(toMs(period));
  const name = named[text];
  return name === undefined ? [text, `periods of ${text}`] : [name, `${name}s`];
}

/** When it is an alarm: `more than 1m in 3 of 5 minutes`. */
export function conditionText(options: AlarmOptions): string {
  const [needed, size] = options.of;
  const [one, many] = periodWords(options);
  return `${boundsText(options)} in ${size === 1 ? `a ${one}` : `${needed} of ${size} ${many}`}`;
}

/** How it stands: `3 in the last minute; more than 0 is an alarm`. */
export function reasonText(options: AlarmOptions, periods: readonly Period[], value: number | null): string {
  const [needed, size] = options.of;
  const [one, many] = periodWords(options);
  const last = periods.slice(-size);
  const countOf = (wanted: Period): number => last.filter((period) => period === wanted).length;
  const head = `${figureText(options.metric, value)} in the last ${one}; ${boundsText(options)}`;
  if (size === 1) return `${head} is an alarm`;
  const missing = countOf("missing");
  const unknown = missing > 0 ? `, ${missing} without a figure` : "";
  return `${head} in ${countOf("breaching")} of the last ${size} ${many}${unknown}; ${needed} are an alarm`;
}

// Durations as people write them: "30s", "5m", "500ms". Typed by template literal, so that "30x" does not compile.
import { catalogue } from "./error.ts";

type Unit = "ms" | "s" | "m" | "h" | "d";

/** A duration with its unit, such as `"30s"` or `"1.5h"`; zero needs a unit too. */
export type Duration = `${number}${Unit}`;

const unitMs: Record<Unit, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export const durationErrors = catalogue({
  TUNTAS_DURATION_INVALID: {
    meaning: "A duration was not a number with a unit.",
    remedy: 'Write it as "500ms", "30s", "5m", "2h" or "7d".',
  },
});

/** The duration in milliseconds; `field` says in an error what it is of. Errors: TUNTAS_DURATION_INVALID. */
export function toMs(duration: Duration, field?: string): number {
  const match = typeof duration === "string" && /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(duration);
  if (!match)
    throw durationErrors.error(
      "TUNTAS_DURATION_INVALID",
      `${field === undefined ? "" : `${field}: `}expected a duration such as "30s", got ${JSON.stringify(duration)}`,
    );
  return Number(match[1]) * unitMs[match[2] as Unit];
}

/** The duration in whole seconds, rounded up, since SQS counts in seconds. */
export const toSeconds = (duration: Duration, field?: string): number =>
  Math.ceil(toMs(duration, field) / 1000);

const unitsDown = ["d", "h", "m", "s"] as const;

/** A duration as people write it, in the largest unit of which it is a whole number: `4d`, `90s`, `0s`. */
export function durationText(ms: number): Duration {
  if (ms === 0) return "0s";
  const unit = unitsDown.find((each) => ms % unitMs[each] === 0) ?? "ms";
  return `${ms / unitMs[unit]}${unit}`;
}

/** A measured time, to a tenth of the largest unit that it fills: `2.1m`. */
export function measuredText(ms: number): Duration {
  const unit = unitsDown.find((each) => ms >= unitMs[each]) ?? (ms === 0 ? "s" : "ms");
  return `${tenth(ms / unitMs[unit])}${unit}`;
}

/** To a tenth, since nobody reads more of what was measured. */
export const tenth = (value: number): number => Math.round(value * 10) / 10;

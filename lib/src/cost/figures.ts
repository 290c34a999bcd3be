// What nobody can see from here: how large an image is, what a message weighs, what traffic there will be. Each has a value that
// is taken for granted and can be given; what is given counts more than what was measured.
import { meantHint } from "../core/nearest.ts";
import { costErrors } from "./contract.ts";

/** Taken for granted where nobody says otherwise. */
export const assumedFigures = {
  /** Hours of a month. */
  hours: 730,
  /** How long a receive waits on SQS. */
  longPollSeconds: 20,
  /** How many messages go in one call: 1 to 10. */
  messagesPerCall: 1,
  /** Of a message; each 64 KiB of a call are paid for. */
  messageKiB: 1,
  /** How long logs are kept. */
  logDays: 30,
  imageMiB: 250,
  /** How many images the registry keeps. */
  imagesKept: 10,
  /** What a call of something outside sends out. */
  callKiB: 4,
  /** What a request is answered with. */
  answerKiB: 8,
  /** The network that `@tuntas/aws` makes has none. */
  natGateways: 0,
  /** Interface endpoints, and the zones that each is in: as in the network that `@tuntas/aws` makes. */
  endpoints: 6,
  zones: 2,
} as const;

/** A month's traffic, where it is not to be taken from what was measured here. */
export const trafficFigures = [
  "messages",
  "requests",
  "executions",
  "logGb",
  "calls",
  "natGb",
  "metricSeries",
] as const;

export type TrafficFigure = (typeof trafficFigures)[number];
type AssumedFigure = keyof typeof assumedFigures;

/** What somebody has given, by name. */
export type Figures = Readonly<Partial<Record<AssumedFigure | TrafficFigure, number>>>;

const names: readonly string[] = [...Object.keys(assumedFigures), ...trafficFigures];

/** What would be divided by. */
const fromOne: readonly string[] = ["hours", "longPollSeconds", "messagesPerCall"];

function wrongIn(name: string, value: unknown): string | undefined {
  if (!names.includes(name))
    return `${name}: there is no such figure${meantHint(name, names) || `; there are ${names.join(", ")}`}`;
  const least = fromOne.includes(name) ? 1 : 0;
  return typeof value === "number" && Number.isFinite(value) && value >= least
    ? undefined
    : `${name}: expected a number from ${least}, got ${JSON.stringify(value)}`;
}

/** Figures as somebody wrote them. Errors: TUNTAS_COST_FIGURES. */
export function checkFigures(given: unknown): Figures {
  const isFlat = typeof given === "object" && given !== null && !Array.isArray(given);
  const wrong = isFlat
    ? Object.entries(given).flatMap(([name, value]) => wrongIn(name, value) ?? [])
    : [`expected an object of numbers, got ${JSON.stringify(given)}`];
  if (wrong.length > 0) throw costErrors.error("TUNTAS_COST_FIGURES", wrong.join("; "));
  return given as Figures;
}

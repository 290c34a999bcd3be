// What things cost. A table with its region and day, to be replaced by anybody's own: nothing is downloaded, so that the same
// facts give the same estimate.
import { refuseUnknown, type NamesOf } from "../core/options.ts";
import { costErrors } from "./contract.ts";

/** All in one currency, without free tiers and discounts. */
export interface Prices {
  readonly vcpuHour: number;
  readonly memoryGbHour: number;
  /** What is left to pay of an hour where it may be interrupted: 0 to 1. */
  readonly spotFactor: number;
  readonly queueMillionCalls: number;
  readonly fifoMillionCalls: number;
  readonly natHour: number;
  readonly natGb: number;
  readonly endpointHour: number;
  readonly endpointGb: number;
  readonly logGb: number;
  readonly logGbMonth: number;
  readonly metricMonth: number;
  readonly thousandTransitions: number;
  readonly imageGbMonth: number;
  readonly balancerHour: number;
  readonly balancerUnitHour: number;
  readonly transferOutGb: number;
}

export interface PriceTable {
  readonly region: string;
  /** The day on which they were looked up: YYYY-MM-DD. */
  readonly asOf: string;
  readonly currency: string;
  readonly prices: Prices;
}

/** List prices of Linux on x86 in us-east-1 on that day: an example, not an offer. */
export const examplePrices: PriceTable = {
  region: "us-east-1",
  asOf: "2026-06-01",
  currency: "USD",
  prices: {
    vcpuHour: 0.04048,
    memoryGbHour: 0.004445,
    spotFactor: 0.3,
    queueMillionCalls: 0.4,
    fifoMillionCalls: 0.5,
    natHour: 0.045,
    natGb: 0.045,
    endpointHour: 0.01,
    endpointGb: 0.01,
    logGb: 0.5,
    logGbMonth: 0.03,
    metricMonth: 0.3,
    thousandTransitions: 0.025,
    imageGbMonth: 0.1,
    balancerHour: 0.0225,
    balancerUnitHour: 0.008,
    transferOutGb: 0.09,
  },
};

const priceNames = Object.keys(examplePrices.prices) as (keyof Prices)[];

const tableNames: NamesOf<PriceTable> = {
  region: true,
  asOf: true,
  currency: true,
  prices: Object.fromEntries(priceNames.map((name) => [name, true])) as NamesOf<Prices>,
};

const isText = (value: unknown): boolean => typeof value === "string" && value.trim() !== "";
const isDay = (value: unknown): boolean => typeof value === "string" && /^\d{4}-\d{2}-\d{2}$/.test(value);
const isPrice = (value: unknown): boolean =>
  typeof value === "number" && Number.isFinite(value) && value >= 0;

const said = (value: unknown): string => (value === undefined ? "nothing" : JSON.stringify(value));

function* wrongIn(given: Partial<PriceTable>): Generator<string> {
  if (!isText(given.region)) yield `region: expected a name, got ${said(given.region)}`;
  if (!isDay(given.asOf)) yield `asOf: expected a day such as 2026-06-01, got ${said(given.asOf)}`;
  if (!isText(given.currency)) yield `currency: expected a name, got ${said(given.currency)}`;
  for (const name of priceNames) {
    const price = given.prices?.[name];
    if (!isPrice(price)) yield `prices.${name}: expected a number from 0, got ${said(price)}`;
  }
}

/** A table as somebody wrote it. Errors: TUNTAS_COST_PRICES, TUNTAS_OPTION_UNKNOWN. */
export function checkPrices(given: unknown): PriceTable {
  const table = (given ?? {}) as Partial<PriceTable>;
  refuseUnknown("prices", table, tableNames);
  const wrong = [...wrongIn(table)];
  if (wrong.length > 0) throw costErrors.error("TUNTAS_COST_PRICES", wrong.join("; "));
  return table as PriceTable;
}

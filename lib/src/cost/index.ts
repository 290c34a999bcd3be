// `tuntas/cost`: what the work would cost on AWS, from declarations, measured figures and a table of prices.
export { standingDrivers, workDrivers, costErrors } from "./contract.ts";
export type { Basis, CostFacts, CostLine, Driver, Estimate, Measured, Saving } from "./contract.ts";
export { estimate } from "./estimate.ts";
export { neededMetrics, withoutMetric } from "./evidence.ts";
export { readCostFacts, type CostOptions } from "./facts.ts";
export { assumedFigures, checkFigures, trafficFigures, type Figures } from "./figures.ts";
export { comparePolling, type Polling, type PollingCase } from "./polling.ts";
export { checkPrices, examplePrices, type Prices, type PriceTable } from "./prices.ts";

// From amounts to money: one line a driver, with what is paid for and where the figures are from. Pure.
import * as amounts from "./amounts.ts";
import type { Basis, CostedService, CostFacts, CostLine, Quantity } from "./contract.ts";
import type { PriceTable } from "./prices.ts";

const bases: readonly Basis[] = ["measured", "declared", "given", "assumed"];

const basisOf = (...of: readonly (Basis | Quantity)[]): readonly Basis[] => {
  const found = of.map((each) => (typeof each === "string" ? each : each.basis));
  return bases.filter((basis) => found.includes(basis));
};

/** A count as people read it. */
export const said = (value: number): string =>
  value.toLocaleString("en-US", {
    maximumFractionDigits: value >= 100 || Number.isInteger(value) ? 0 : value < 0.1 ? 4 : 2,
  });

type Part = Omit<CostLine, "share">;

/** An hour of one instance. */
export const instanceHour = (
  { size: { cpu, memoryMiB } }: Pick<CostedService, "size">,
  { prices }: PriceTable,
): number => (cpu / 1024) * prices.vcpuHour + (memoryMiB / 1024) * prices.memoryGbHour;

function computeLine(facts: CostFacts): Part {
  const { services, prices } = facts;
  const hours = amounts.figure(facts, "hours");
  const running = services.map((service) => ({ service, count: amounts.instancesOf(facts, service) }));
  const cost = running.reduce(
    (total, { service, count }) => total + count.value * hours.value * instanceHour(service, prices),
    0,
  );
  const parts = running.map(
    ({ service: { name, size }, count }) =>
      `${said(count.value)} ${name} of ${size.cpu / 1024} vCPU, ${size.memoryMiB / 1024} GB`,
  );
  const quantity = parts.length === 0 ? "no service is declared or deployed" : parts.join("; ");
  return { driver: "compute", cost, quantity, basis: basisOf(...running.map(({ count }) => count)) };
}

function pollLine(facts: CostFacts): Part {
  const polls = amounts.idlePolls(facts);
  const seconds = amounts.figure(facts, "longPollSeconds");
  return {
    driver: "idle polling",
    cost: (polls.value / 1e6) * facts.prices.prices.queueMillionCalls,
    quantity: `${said(polls.value)} receives of ${said(seconds.value)} s that bring nothing`,
    basis: basisOf(polls, seconds),
  };
}

function callLine(facts: CostFacts): Part {
  const { queueMillionCalls, fifoMillionCalls } = facts.prices.prices;
  const [standard, fifo] = [amounts.queueCalls(facts, false), amounts.queueCalls(facts, true)];
  const perCall = amounts.figure(facts, "messagesPerCall");
  return {
    driver: "queue calls",
    cost: (standard * queueMillionCalls + fifo * fifoMillionCalls) / 1e6,
    quantity: `${said(standard + fifo)} sends, receives and deletes, ${said(perCall.value)} messages in each`,
    basis: basisOf(amounts.queueBasis(facts), perCall),
  };
}

function natLine(facts: CostFacts): Part {
  const gb = amounts.natGb(facts);
  return {
    driver: "NAT traffic",
    cost: gb.value * facts.prices.prices.natGb,
    quantity: `${said(gb.value)} GB`,
    basis: basisOf(gb),
  };
}

/** A GB of logs that is taken in and kept for so many days. */
export const logGbCost = ({ prices: { prices } }: CostFacts, days: number): number =>
  prices.logGb + prices.logGbMonth * (days / 30);

function logLine(facts: CostFacts): Part {
  const [gb, days] = [amounts.logGb(facts), amounts.figure(facts, "logDays")];
  return {
    driver: "logs",
    cost: gb.value * logGbCost(facts, days.value),
    quantity: `${said(gb.value)} GB, kept ${said(days.value)} days`,
    basis: basisOf(gb, days),
  };
}

function metricLine(facts: CostFacts): Part {
  const series = amounts.metricSeries(facts);
  return {
    driver: "metrics",
    cost: series.value * facts.prices.prices.metricMonth,
    quantity: `${said(series.value)} series, each a metric of CloudWatch`,
    basis: basisOf(series),
  };
}

function transitionLine(facts: CostFacts): Part {
  const machines = amounts.machineAmounts(facts);
  const transitions = machines.reduce(
    (sum, { executions, transitionsEach }) => sum + executions * transitionsEach.value,
    0,
  );
  const executions = machines.reduce((sum, each) => sum + each.executions, 0);
  return {
    driver: "transitions",
    cost: (transitions / 1000) * facts.prices.prices.thousandTransitions,
    quantity: `${said(transitions)} in ${said(executions)} executions`,
    basis: basisOf(amounts.executionBasis(facts), ...machines.map((each) => each.transitionsEach)),
  };
}

function imageLine(facts: CostFacts): Part {
  const [kept, size] = [amounts.figure(facts, "imagesKept"), amounts.figure(facts, "imageMiB")];
  return {
    driver: "images",
    cost: amounts.imageGb(facts) * facts.prices.prices.imageGbMonth,
    quantity: `${said(kept.value)} images of ${said(size.value)} MiB; their pulls are free within the region`,
    basis: basisOf(kept, size),
  };
}

function transferLine(facts: CostFacts): Part {
  const gb = amounts.callGb(facts) + amounts.answerGb(facts);
  const [calls, requests] = [amounts.calls(facts), amounts.requests(facts)];
  return {
    driver: "data transfer",
    cost: gb * facts.prices.prices.transferOutGb,
    quantity: `${said(gb)} GB out: ${said(calls.value)} calls of others, ${said(requests.value)} answers`,
    basis: basisOf(calls, requests, "assumed"),
  };
}

/** 25 new connections a second, or a GB an hour, whichever is more. Source: "Elastic Load Balancing pricing". */
const connectionsPerUnitHour = 25 * 3600;

function balancerLine(facts: CostFacts): Part {
  const { balancerHour, balancerUnitHour } = facts.prices.prices;
  const count = amounts.balancers(facts);
  const requests = amounts.requests(facts);
  const units = count === 0 ? 0 : Math.max(requests.value / connectionsPerUnitHour, amounts.answerGb(facts));
  return {
    driver: "load balancers",
    cost: count * amounts.figure(facts, "hours").value * balancerHour + units * balancerUnitHour,
    quantity: `${said(count)} before services that are served, ${said(units)} hours of a capacity unit`,
    basis: basisOf("declared", requests),
  };
}

function gatewayLine(facts: CostFacts): Part {
  const count = amounts.figure(facts, "natGateways");
  return {
    driver: "NAT gateways",
    cost: count.value * amounts.figure(facts, "hours").value * facts.prices.prices.natHour,
    quantity: `${said(count.value)} gateways`,
    basis: basisOf(count),
  };
}

function endpointLine(facts: CostFacts): Part {
  const { endpointHour, endpointGb } = facts.prices.prices;
  const { count, gb } = amounts.endpoints(facts);
  return {
    driver: "endpoints",
    cost: count.value * amounts.figure(facts, "hours").value * endpointHour + gb * endpointGb,
    quantity: `${said(count.value)} in all zones together, ${said(gb)} GB`,
    basis: basisOf(count),
  };
}

/** The drivers of the work, in the order of the catalogue. */
export const workParts = (facts: CostFacts): readonly Part[] => [
  computeLine(facts),
  pollLine(facts),
  callLine(facts),
  natLine(facts),
  logLine(facts),
  metricLine(facts),
  transitionLine(facts),
  imageLine(facts),
  transferLine(facts),
];

/** What stands around it. */
export const standingParts = (facts: CostFacts): readonly Part[] => [
  balancerLine(facts),
  gatewayLine(facts),
  endpointLine(facts),
];

export const shared =
  (total: number) =>
  (part: Part): CostLine => ({ ...part, share: total > 0 ? part.cost / total : 0 });

export const costOf = (parts: readonly { readonly cost: number }[]): number =>
  parts.reduce((sum, { cost }) => sum + cost, 0);

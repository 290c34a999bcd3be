// What would make it cheaper: each saving names the driver that it is taken from, and what it saves in a month. Nothing here
// takes away what shows that data is lost, doubled or corrupted. Pure.
import { pollsOf } from "../check/machines/index.ts";
import { levelsOf } from "../check/machines/states.ts";
import { taskSize } from "../service/size.ts";
import * as amounts from "./amounts.ts";
import type { CostedService, CostFacts, Saving } from "./contract.ts";
import { instanceHour, logGbCost, said } from "./lines.ts";

/** Of what was seen in the busiest hour, so that the next busiest fits too. */
const cpuRoom = 2;
const memoryRoom = 1.5;
const batchMax = 10;
const longPollMax = 20;
const logDaysEnough = 30;
const imagesEnough = 10;
/** Less than this a month is not worth a change. */
const savesMin = 0.01;
/** Half of all hours without work: it pays to stop. */
const idleShareMin = 0.5;

/** Kinds whose instances may end at any time: what they were at goes back, and is done by another. */
const interruptible = ["consumer-group", "scheduler"];

function hoursOf(facts: CostFacts, service: CostedService): number {
  return amounts.instancesOf(facts, service).value * amounts.figure(facts, "hours").value;
}

function rightSize(facts: CostFacts, service: CostedService): Saving[] {
  const use = facts.measured.services.get(service.name);
  if (!use || use.memoryMiB === 0) return [];
  const size = taskSize({
    cpu: { limit: use.cpuUnits * cpuRoom },
    memory: { limit: use.memoryMiB * memoryRoom },
  });
  if (!size) return [];
  const less = instanceHour(service, facts.prices) - instanceHour({ size }, facts.prices);
  const seen = `its busiest hour took ${said(use.cpuUnits)} CPU units and ${said(use.memoryMiB)} MiB an instance`;
  const what = `${service.name}: ${size.cpu / 1024} vCPU and ${size.memoryMiB} MiB are enough: ${seen}`;
  return [{ driver: "compute", saves: less * hoursOf(facts, service), what }];
}

/** Where nothing is to be done most of the time, none needs to run. */
function scaleIn(facts: CostFacts, service: CostedService): Saving[] {
  const idleShare = facts.measured.queues.get(service.queue ?? "")?.idleShare ?? 0;
  if (service.least === 0 || idleShare < idleShareMin) return [];
  const hours = service.least * idleShare * amounts.figure(facts, "hours").value;
  const what = `${service.name}: scaling.min 0 instead of ${service.least}: its queue brought nothing in ${Math.round(idleShare * 100)} % of the hours`;
  return [{ driver: "compute", saves: hours * instanceHour(service, facts.prices), what }];
}

function spot(facts: CostFacts, service: CostedService): Saving[] {
  if (!interruptible.includes(service.kind)) return [];
  const saves =
    hoursOf(facts, service) * instanceHour(service, facts.prices) * (1 - facts.prices.prices.spotFactor);
  const what = `${service.name}: on Fargate Spot: an instance that is taken away gives back what it held`;
  return [{ driver: "compute", saves, what }];
}

/** How much less a driver costs once a figure is another. */
function withFigure(
  facts: CostFacts,
  figures: CostFacts["figures"],
  cost: (facts: CostFacts) => number,
): number {
  return cost(facts) - cost({ ...facts, figures: { ...facts.figures, ...figures } });
}

const perMillion = ({ prices: { prices } }: CostFacts, calls: number): number =>
  (calls / 1e6) * prices.queueMillionCalls;

function polling(facts: CostFacts): Saving[] {
  const seconds = amounts.figure(facts, "longPollSeconds").value;
  if (seconds >= longPollMax) return [];
  const saves = withFigure(facts, { longPollSeconds: longPollMax }, (of) =>
    perMillion(of, amounts.idlePolls(of).value),
  );
  return [
    { driver: "idle polling", saves, what: `let a receive wait ${longPollMax} s instead of ${seconds}` },
  ];
}

function batching(facts: CostFacts): Saving[] {
  const saves = withFigure(facts, { messagesPerCall: batchMax }, (of) =>
    perMillion(of, amounts.queueCalls(of, false)),
  );
  const what = `send, receive and delete ${batchMax} messages in a call, where so many come together`;
  return [{ driver: "queue calls", saves, what }];
}

/** Endpoints instead of a NAT gateway, where they cost less. */
function withoutNat(facts: CostFacts): Saving[] {
  const gateways = amounts.figure(facts, "natGateways").value;
  if (gateways === 0) return [];
  const { natHour, natGb, endpointHour, endpointGb } = facts.prices.prices;
  const hours = amounts.figure(facts, "hours").value;
  const gb = amounts.natGb(facts).value;
  const needed = amounts.figure(facts, "zones").value * amounts.figure(facts, "endpoints").value;
  const now = gateways * hours * natHour + gb * natGb;
  const saves = now - needed * hours * endpointHour - gb * endpointGb;
  const what = `${said(needed)} interface endpoints instead of ${said(gateways)} NAT gateways, where nothing but AWS is reached`;
  return [{ driver: "NAT gateways", saves, what }];
}

function logging(facts: CostFacts): Saving[] {
  const days = amounts.figure(facts, "logDays").value;
  const kept = withFigure(
    facts,
    { logDays: logDaysEnough },
    (of) => amounts.logGb(of).value * logGbCost(of, amounts.figure(of, "logDays").value),
  );
  const { logBytes } = facts.measured;
  const all = [...logBytes.values()].reduce((sum, bytes) => sum + bytes, 0);
  const debugGb = all > 0 ? (amounts.logGb(facts).value * (logBytes.get("debug") ?? 0)) / all : 0;
  return [
    { driver: "logs", saves: kept, what: `keep logs ${logDaysEnough} days instead of ${said(days)}` },
    {
      driver: "logs",
      saves: debugGb * logGbCost(facts, days),
      what: "TUNTAS_LOG_LEVEL=info: the lines of debug",
    },
  ];
}

/** The metric with the most series that nobody relies upon. */
function dimensions(facts: CostFacts): Saving[] {
  const free = [...facts.measured.series].filter(([name]) => !facts.needed.has(name));
  const [most] = free.toSorted(([, a], [, b]) => b - a);
  if (!most || facts.figures.metricSeries !== undefined) return [];
  const [name, count] = most;
  const saves = count * facts.prices.prices.metricMonth;
  return [{ driver: "metrics", saves, what: `leave ${name} out (--without ${name}): ${said(count)} series` }];
}

function transitions(facts: CostFacts): Saving[] {
  const each = facts.prices.prices.thousandTransitions / 1000;
  return amounts.machineAmounts(facts).flatMap(({ name, executions, transitionsEach }) => {
    const definition = facts.machines.find((machine) => machine.name === name)?.definition;
    if (!definition) return [];
    const states = [...levelsOf(definition)].flatMap((level) => Object.values(level));
    const tiny = states.filter(({ Type }) => Type === "Pass").length;
    const polls = pollsOf(definition);
    const around = polls.reduce((sum, { round }) => sum + round, 0);
    const straight = Math.max(1, states.length - around + polls.length);
    const waits = polls.map((poll) => poll.name).join(", ");
    return [
      {
        driver: "transitions" as const,
        saves: tiny * executions * each,
        what: `${name}: fold its ${tiny} Pass states into their neighbours`,
      },
      {
        driver: "transitions" as const,
        saves: polls.length === 0 ? 0 : (transitionsEach.value - straight) * executions * each,
        what: `${name}: a callback (.waitForTaskToken) instead of the rounds through ${waits}`,
      },
    ];
  });
}

function images(facts: CostFacts): Saving[] {
  const saves = withFigure(
    facts,
    { imagesKept: imagesEnough },
    (of) => amounts.imageGb(of) * of.prices.prices.imageGbMonth,
  );
  return [
    { driver: "images", saves, what: `a lifecycle rule that keeps the last ${imagesEnough} images` },
    {
      driver: "images",
      saves: (amounts.imageGb(facts) * facts.prices.prices.imageGbMonth) / 2,
      what: "images of half the size: no tools of the build in them",
    },
  ];
}

const worthWhile = (savings: readonly Saving[]): readonly Saving[] =>
  savings.filter(({ saves }) => saves >= savesMin).toSorted((a, b) => b.saves - a.saves);

/** Sizes, and what is scaled by: to be looked at before anything that tells what happens is taken away. */
export const sizeSavings = (facts: CostFacts): readonly Saving[] =>
  worthWhile(facts.services.flatMap((service) => [...rightSize(facts, service), ...scaleIn(facts, service)]));

/** What saves most first. They overlap: of two that take from one driver the second saves less once the first is done. */
export const savingsOf = (facts: CostFacts): readonly Saving[] =>
  worthWhile([
    ...sizeSavings(facts),
    ...facts.services.flatMap((service) => spot(facts, service)),
    ...polling(facts),
    ...batching(facts),
    ...withoutNat(facts),
    ...logging(facts),
    ...dimensions(facts),
    ...transitions(facts),
    ...images(facts),
  ]);

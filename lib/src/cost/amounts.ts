// How much of everything a month takes: what somebody gives, else what was measured here and scaled to a month, else what is
// declared, else what is taken for granted. Pure.
import { levelsOf } from "../check/machines/states.ts";
import type { CostedService, CostFacts, Quantity, QueueUse } from "./contract.ts";
import { assumedFigures, type TrafficFigure } from "./figures.ts";

const kibPerGb = 1_048_576;
/** SQS counts each 64 KiB of a call. */
const chunkKib = 64;
const secondsPerHour = 3600;

export const given = (value: number): Quantity => ({ value, basis: "given" });
export const measured = (value: number): Quantity => ({ value, basis: "measured" });
export const declared = (value: number): Quantity => ({ value, basis: "declared" });
export const assumed = (value: number): Quantity => ({ value, basis: "assumed" });

/** A figure that is given or taken for granted. */
export function figure({ figures }: CostFacts, name: keyof typeof assumedFigures): Quantity {
  const value = figures[name];
  return value === undefined ? assumed(assumedFigures[name]) : given(value);
}

/** What was counted while it was measured, for a month; nothing where nothing was measured. */
const aMonth = (facts: CostFacts, count: number): number =>
  facts.measured.hours > 0 ? (count * figure(facts, "hours").value) / facts.measured.hours : 0;

function traffic(facts: CostFacts, name: TrafficFigure, count: number): Quantity {
  const value = facts.figures[name];
  if (value !== undefined) return given(value);
  return facts.measured.hours > 0 ? measured(aMonth(facts, count)) : assumed(0);
}

const sum = <T>(all: Iterable<T>, of: (each: T) => number): number => {
  let total = 0;
  for (const each of all) total += of(each);
  return total;
};

/** Instances that run, on average: those that were seen, else the least. */
export function instancesOf({ measured: { services } }: CostFacts, { name, least }: CostedService): Quantity {
  const use = services.get(name);
  return use ? measured(use.instances) : declared(least);
}

export interface QueueAmounts {
  readonly sends: number;
  readonly receives: number;
}

/** Messages of a month, of those queues whose calls cost the one or the other. */
function messagesOf(facts: CostFacts, fifo: boolean): QueueAmounts {
  const { messages } = facts.figures;
  if (messages !== undefined)
    return fifo ? { sends: 0, receives: 0 } : { sends: messages, receives: messages };
  const uses = [...facts.measured.queues].filter(([name]) => name.endsWith(".fifo") === fifo);
  return {
    sends: aMonth(
      facts,
      sum(uses, ([, { sent }]) => sent),
    ),
    receives: aMonth(
      facts,
      sum(uses, ([, { received }]) => received),
    ),
  };
}

/** A send, a receive and a delete a message; with several in one call there are as many fewer. */
export function queueCalls(facts: CostFacts, fifo: boolean): number {
  const { sends, receives } = messagesOf(facts, fifo);
  const perCall = figure(facts, "messagesPerCall").value;
  const chunks = Math.max(1, Math.ceil((figure(facts, "messageKiB").value * perCall) / chunkKib));
  return ((sends + receives) * chunks + receives) / perCall;
}

export const queueBasis = (facts: CostFacts): Quantity["basis"] => traffic(facts, "messages", 0).basis;

function queueGb(facts: CostFacts): number {
  const both = [messagesOf(facts, true), messagesOf(facts, false)];
  return (
    (sum(both, ({ sends, receives }) => sends + receives) * figure(facts, "messageKiB").value) / kibPerGb
  );
}

/** Processes that wait for a queue, as declared: those of the service that is scaled by it, else one. */
function pollersOf({ services }: CostFacts, queue: string): QueueUse {
  const least = services.find((service) => service.queue === queue)?.least ?? 1;
  return { sent: 0, received: 0, idleShare: 1, processes: least };
}

/** Long polls that bring nothing: one after another of each process, in the hours in which nothing came. */
export function idlePolls(facts: CostFacts): Quantity {
  const { queues } = facts.measured;
  const names = new Set([...facts.queues, ...queues.keys()]);
  const pollSeconds = figure(facts, "longPollSeconds").value;
  const perProcess = (figure(facts, "hours").value * secondsPerHour) / pollSeconds;
  const waiting = sum(names, (name) => {
    const { processes, idleShare } = queues.get(name) ?? pollersOf(facts, name);
    return processes * idleShare;
  });
  const seen = [...names].every((name) => queues.has(name));
  return { value: waiting * perProcess, basis: seen ? "measured" : "declared" };
}

export const requests = (facts: CostFacts): Quantity => traffic(facts, "requests", facts.measured.requests);

export const logGb = (facts: CostFacts): Quantity =>
  traffic(facts, "logGb", sum(facts.measured.logBytes.values(), (bytes) => bytes) / 1e9);

export const calls = (facts: CostFacts): Quantity => traffic(facts, "calls", facts.measured.calls);

export const callGb = (facts: CostFacts): number =>
  (calls(facts).value * figure(facts, "callKiB").value) / kibPerGb;

export const answerGb = (facts: CostFacts): number =>
  (requests(facts).value * figure(facts, "answerKiB").value) / kibPerGb;

/** Series are there or not, however long it was measured. */
export function metricSeries({ figures, measured: { series } }: CostFacts): Quantity {
  if (figures.metricSeries !== undefined) return given(figures.metricSeries);
  return series.size > 0 ? measured(sum(series.values(), (count) => count)) : assumed(0);
}

export const imageGb = (facts: CostFacts): number =>
  (figure(facts, "imagesKept").value * figure(facts, "imageMiB").value) / 1024;

const pulledGb = (facts: CostFacts): number =>
  (aMonth(facts, facts.measured.starts) * figure(facts, "imageMiB").value) / 1024;

/** What goes to services of AWS and to others, past a NAT gateway or an endpoint. */
export function natGb(facts: CostFacts): Quantity {
  const { natGb: known } = facts.figures;
  if (known !== undefined) return given(known);
  if (figure(facts, "natGateways").value === 0) return assumed(0);
  const value = logGb(facts).value + queueGb(facts) + callGb(facts) + pulledGb(facts);
  return { value, basis: facts.measured.hours > 0 ? "measured" : "assumed" };
}

export interface EndpointAmounts {
  readonly count: Quantity;
  readonly gb: number;
}

/** Where there is a NAT gateway, none unless somebody says so. */
export function endpoints(facts: CostFacts): EndpointAmounts {
  const hasNat = figure(facts, "natGateways").value > 0;
  if (facts.figures.endpoints === undefined && (hasNat || facts.services.length === 0))
    return { count: assumed(0), gb: 0 };
  const count = figure(facts, "endpoints");
  const zones = figure(facts, "zones").value;
  return { count: { ...count, value: count.value * zones }, gb: logGb(facts).value + queueGb(facts) };
}

const served = ["rest", "grpc", "websocket"];

export const balancers = ({ services }: CostFacts): number =>
  services.filter(({ kind }) => served.includes(kind)).length;

export interface MachineAmounts {
  readonly name: string;
  readonly executions: number;
  readonly transitionsEach: Quantity;
}

/** States entered of an execution: those that were seen, else each of the definition once. */
function transitionsEach({ machines, measured: { workflows } }: CostFacts, name: string): Quantity {
  const seen = workflows.get(name)?.transitionsEach;
  if (seen !== null && seen !== undefined) return measured(seen);
  const machine = machines.find((each) => each.name === name);
  return declared(machine ? [...levelsOf(machine.definition)].flatMap(Object.keys).length : 1);
}

export function machineAmounts(facts: CostFacts): readonly MachineAmounts[] {
  const { workflows } = facts.measured;
  const names = [...new Set([...facts.machines.map(({ name }) => name), ...workflows.keys()])];
  const { executions } = facts.figures;
  return names.map((name) => ({
    name,
    // What is given is divided evenly: whose they are nobody has said.
    executions:
      executions === undefined
        ? aMonth(facts, workflows.get(name)?.executions ?? 0)
        : executions / names.length,
    transitionsEach: transitionsEach(facts, name),
  }));
}

export const executionBasis = (facts: CostFacts): Quantity["basis"] => traffic(facts, "executions", 0).basis;

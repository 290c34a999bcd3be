// Declared times against each other, and against what a message may take in all.
import { toMs, type Duration } from "../core/duration.ts";
import { checkTiming, type TimingDeclaration, type TimingFinding } from "../ledger/index.ts";
import { backoffOf, type WorkerDefinition } from "../queue/declaration.ts";
import type { Declared, Sighting } from "./contract.ts";
import { inWords } from "./words.ts";

const farAboveFactor = 10;
const farAboveMs = 600_000;
const attemptsMax = 20;
const drainDefault: Duration = "25s";
const retentionDefault: Duration = "4d";

/** What a worker and its queue declare, completed by the `timing` of the queue's name. */
function timingOf({ queue, options, place }: WorkerDefinition, declared: Declared): TimingDeclaration {
  const times = declared.timings.find((timing) => timing.name === queue.name);
  const measured = declared.measured?.get(queue.name);
  const { visibilityTimeout } = queue.options;
  return {
    name: queue.name,
    attempt: options.timeout,
    ...(place !== undefined && { place }),
    ...(visibilityTimeout !== undefined && { visibility: visibilityTimeout }),
    ...(measured && { measured }),
    ...times,
  };
}

function withMeasured(timing: TimingDeclaration, declared: Declared): TimingDeclaration {
  const measured = declared.measured?.get(timing.name);
  return measured ? { ...timing, measured } : timing;
}

/** All timings: those of workers, and what is declared for itself. */
function timingsOf(declared: Declared): TimingDeclaration[] {
  const ofWorkers = declared.workers.map((worker) => timingOf(worker, declared));
  const named = new Set(ofWorkers.map(({ name }) => name));
  const others = declared.timings.filter(({ name }) => !named.has(name));
  return [...ofWorkers, ...others.map((timing) => withMeasured(timing, declared))];
}

const ofTiming = ({ rule, name, place, message, fix, values }: TimingFinding): Sighting => ({
  rule: rule.startsWith("lease") ? "time-ladder" : "visibility-budget",
  name,
  place,
  message,
  fix,
  values,
});

function visibilityFarAbove({ name, place, visibility, p99, attempt }: TimingDeclaration): Sighting[] {
  const work = p99 ?? attempt;
  if (visibility === undefined || work === undefined) return [];
  const [haveMs, needMs] = [toMs(visibility), toMs(work)];
  if (haveMs <= farAboveMs || haveMs <= farAboveFactor * needMs) return [];
  const times = Math.round(haveMs / needMs);
  const message = `${name}: the visibility of ${inWords(haveMs)} is ${times} times the ${inWords(needMs)} of the work`;
  const values = [
    { what: "visibility", ms: haveMs },
    { what: "work", ms: needMs },
  ];
  return [{ rule: "visibility-far-above", name, place, message, values }];
}

function drainTooShort({ name, place, drain = drainDefault, p99, attempt }: TimingDeclaration): Sighting[] {
  const work = p99 ?? attempt;
  if (work === undefined || toMs(work) <= toMs(drain)) return [];
  const what = p99 === undefined ? "an attempt may take" : "of a hundred attempts one takes";
  const message = `${name}: a stopping process gets ${inWords(toMs(drain))}, and ${what} ${inWords(toMs(work))}`;
  return [
    {
      rule: "drain-too-short",
      name,
      place,
      message,
      ...(p99 === undefined && { severity: "advice" as const }),
    },
  ];
}

/** It takes longer than whoever set the visibility believed. */
function p99Exceeded({ name, place, p99, measured }: TimingDeclaration): Sighting[] {
  if (p99 === undefined || !measured || measured.p99Ms <= toMs(p99)) return [];
  const { p99Ms, attempts } = measured;
  const message = `${name}: the handler's p99 is declared as ${inWords(toMs(p99))}, and was ${inWords(Math.round(p99Ms))} over ${attempts} attempts`;
  const values = [
    { what: "measured p99", ms: p99Ms },
    { what: "declared p99", ms: toMs(p99) },
  ];
  return [{ rule: "p99-exceeded", name, place, message, values }];
}

/** The longest that a message can take to become a dead letter: every attempt to its timeout, every wait in full. */
export function longestMs({ queue, options }: WorkerDefinition): number {
  const { baseMs, maxMs } = backoffOf(options);
  const attempts = queue.options.deadLetter.after;
  let sumMs = attempts * toMs(options.timeout);
  for (let attempt = 1; attempt < attempts; attempt++)
    sumMs += Math.min(maxMs, baseMs * 2 ** Math.min(attempt - 1, 40));
  return sumMs;
}

function retries(worker: WorkerDefinition): Sighting[] {
  const { queue, place } = worker;
  const { name, options } = queue;
  const attempts = options.deadLetter.after;
  const [takesMs, keptMs] = [longestMs(worker), toMs(options.retention ?? retentionDefault)];
  const found: Sighting[] = [];
  if (takesMs >= keptMs) {
    const message = `${name}: ${attempts} attempts can take ${inWords(takesMs)}, and a message is kept ${inWords(keptMs)}`;
    found.push({ rule: "retries-outlive-retention", name, place, message });
  }
  if (attempts > attemptsMax) {
    const message = `${name}: a message is tried ${attempts} times, for up to ${inWords(takesMs)}, before it is a dead letter`;
    found.push({ rule: "endless-retry", name, place, message });
  }
  return found;
}

const deadLetterRetention = (declared: Declared): Sighting[] =>
  declared.queues.flatMap(({ name, place, options }) => {
    const [keptMs, deadMs] = [
      toMs(options.retention ?? retentionDefault),
      toMs(options.deadLetter.retention),
    ];
    if (deadMs > keptMs || name.endsWith(".fifo")) return [];
    const message = `${name}: dead letters are kept ${inWords(deadMs)}, counted from when they were sent, and messages ${inWords(keptMs)}`;
    return [{ rule: "dead-letters-expire-first" as const, name, place, message }];
  });

const ofOne = (timing: TimingDeclaration): Sighting[] =>
  checkTiming([timing])
    .map(ofTiming)
    .concat(visibilityFarAbove(timing), drainTooShort(timing), p99Exceeded(timing));

export const checkTimes = (declared: Declared): Sighting[] => [
  ...timingsOf(declared).flatMap(ofOne),
  ...declared.workers.flatMap(retries),
  ...deadLetterRetention(declared),
];

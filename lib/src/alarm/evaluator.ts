// Evaluates all alarms, in the one process that samples: what it has just looked at is judged at once.
import type { Sql } from "../pg/contract.ts";
import { addAll } from "../outbox/client.ts";
import type { Labels, Series } from "../series/contract.ts";
import type { TimeSeries } from "../series/client.ts";
import { toMs } from "../core/duration.ts";
import type { AlarmDefinition, AlarmState, MetricChoice } from "./contract.ts";
import { announcementsOf } from "./notify.ts";
import { isShipped, shippedAlarms } from "./shipped.ts";
import { alarmSignals } from "./signals.ts";
import { judge, periodsBefore, periodsOf, valuesOf, type Window } from "./state.ts";
import * as store from "./store.ts";
import { subjectLabels, subjectText } from "./subject.ts";
import { reasonText } from "./words.ts";

export interface EvaluatorOptions {
  readonly database: Sql;
  readonly series: TimeSeries;
  /** Who answers for what an alarm watches, where the alarm itself does not say. */
  readonly ownerOf: (labels: Labels) => Promise<Responsible | undefined>;
  /** Whether it is as it should be there, whatever a shipped alarm says of this figure. */
  readonly isMeant: (metric: string, labels: Labels) => Promise<boolean>;
  /** Which one a metric's figure is about now, by its name. */
  readonly culpritOf: (metric: string, labels: Labels) => Promise<string | undefined>;
}

export interface Responsible {
  readonly owner: string;
  readonly runbook: string | null;
}

export interface Evaluator {
  /** Judges each alarm for which a period has ended since. `changed` says whether there is anything new. */
  evaluate(changed: boolean): Promise<void>;
}

/** Shipped alarms, each replaced by a declared one of the same name. */
export async function allDefinitions(sql: Pick<Sql, "run">): Promise<AlarmDefinition[]> {
  const declared = await store.readDefinitions(sql);
  const names = new Set(declared.map(({ name }) => name));
  return [...shippedAlarms.filter(({ name }) => !names.has(name)), ...declared];
}

export const periodMsOf = ({ options }: AlarmDefinition): number => toMs(options.period ?? "1m");

/** What other processes counted comes up to this late. */
const lateMs = 10_000;

/** Its periods, and until their figures are there and looked at. */
export const lookBackMsOf = (definition: AlarmDefinition): number =>
  definition.options.of[1] * periodMsOf(definition) + 2 * lateMs;

/** The last whole periods of which everything is known. */
function windowOf(definition: AlarmDefinition, nowMs: number): Window {
  const periodMs = periodMsOf(definition);
  const count = definition.options.of[1] + periodsBefore;
  return { periodMs, count, fromMs: Math.floor((nowMs - lateMs) / periodMs) * periodMs - count * periodMs };
}

const statisticOf = ({ statistic }: MetricChoice, { kind }: Pick<Series, "kind">) =>
  statistic ?? (kind === "counter" ? "sum" : "max");

const endOf = ({ fromMs, count, periodMs }: Window): number => fromMs + count * periodMs;

/** How long a declared alarm may go unnoticed. */
const definitionsFreshMs = 30_000;

interface Situation {
  readonly window: Window;
  /** The states by now, of each subject that has one. */
  readonly known: ReadonlyMap<string, AlarmState>;
}

interface Watched {
  readonly labels: Labels;
  readonly values: readonly (number | undefined)[];
}

/** What a metric came to in each period, for each thing that has it. */
function valuesBySubject(all: readonly Series[], metric: MetricChoice, window: Window): Map<string, Watched> {
  const wanted = Object.entries(metric.labels ?? {});
  const own = all.filter(
    ({ name, labels }) => name === metric.name && wanted.every(([label, value]) => labels[label] === value),
  );
  return new Map(
    own.map((each) => {
      const labels = subjectLabels(each.labels, metric.labels);
      return [subjectText(labels), { labels, values: valuesOf(each, statisticOf(metric, each), window) }];
    }),
  );
}

interface Judged {
  readonly labels: Labels;
  readonly subject: string;
  readonly state: AlarmState;
  readonly value: number | null;
  readonly reason: string;
}

/** In how long a further period of one of them can be judged. */
const nextPeriodInMs = (definitions: readonly AlarmDefinition[], nowMs: number): number =>
  Math.min(...definitions.map(periodMsOf).map((periodMs) => periodMs - ((nowMs - lateMs) % periodMs)));

/** How long after the last change the answer can still become another one by the clock alone. */
const settlesAfterMs = (definitions: readonly AlarmDefinition[]): number =>
  Math.max(...definitions.map((each) => (each.options.of[1] + periodsBefore + 2) * periodMsOf(each)));

export function makeEvaluator(options: EvaluatorOptions): Evaluator {
  const { database, series, ownerOf, culpritOf, isMeant } = options;
  const judgedTo = new Map<string, number>();
  let definitions: readonly AlarmDefinition[] = shippedAlarms;
  let readAtMs = -Infinity;
  let readFromMs = -Infinity;
  let changedAtMs = -Infinity;
  let nextAtMs = -Infinity;

  /** The series of all these alarms, whose periods are equally long, in one reading. */
  async function readFor(definitions: readonly AlarmDefinition[], nowMs: number): Promise<Series[]> {
    const names = definitions.flatMap(({ options: { metric, and } }) => [
      metric.name,
      ...(and ? [and.metric.name] : []),
    ]);
    const windows = definitions.map((each) => windowOf(each, nowMs));
    const { periodMs } = windows[0]!;
    // One period more before, for what a figure rose by.
    const fromMs = Math.min(...windows.map((each) => each.fromMs)) - periodMs;
    const toMs = Math.max(...windows.map(endOf));
    return series.readAll({ names: [...new Set(names)], fromMs, toMs, stepMs: periodMs });
  }

  function judgeAll(
    definition: AlarmDefinition,
    all: readonly Series[],
    { window, known }: Situation,
  ): Judged[] {
    const { metric, when, and, of, missing } = definition.options;
    const second = and && valuesBySubject(all, and.metric, window);
    const judgeOne = (labels: Labels, subject: string, values: readonly (number | undefined)[]): Judged => {
      const also = and && { when: and.when, values: second!.get(subject)?.values ?? [] };
      const periods = periodsOf(values, when, also);
      const current = known.get(subject) ?? "OK";
      const value = values.at(-1) ?? null;
      const state = judge({ periods, of, missing, current });
      return { labels, subject, state, value, reason: reasonText(definition.options, periods, value) };
    };
    const seen = valuesBySubject(all, metric, window);
    const judged = [...seen].map(([subject, { labels, values }]) => judgeOne(labels, subject, values));
    // What was in alarm and has no figures any more.
    const gone = [...known].filter(([subject, state]) => !seen.has(subject) && state !== "OK");
    const nothing = Array<undefined>(window.count).fill(undefined);
    return [...judged, ...gone.map(([subject]) => judgeOne({}, subject, nothing))];
  }

  async function change(definition: AlarmDefinition, judged: Judged, previous: AlarmState): Promise<void> {
    const { name, options } = definition;
    const { labels, subject, state, value } = judged;
    const culprit = state === "ALARM" ? await culpritOf(options.metric.name, labels) : undefined;
    const reason = culprit === undefined ? judged.reason : `${judged.reason}; the first is ${culprit}`;
    const responsible = options.owner === "none" ? await ownerOf(labels) : undefined;
    const written = await database.transaction(async (tx) => {
      const atMs = await store.writeChange(tx, { name, subject, state, previous, value, reason });
      if (atMs === undefined) return false;
      const announcement = {
        alarm: name,
        subject,
        state,
        previous,
        at: new Date(atMs).toISOString(),
        value,
        reason,
        severity: options.severity ?? "page",
        owner: responsible?.owner ?? options.owner,
        runbook: responsible?.runbook ?? options.runbook,
        test: false,
      };
      await addAll(tx, announcementsOf(definition, announcement));
      return true;
    });
    if (written) alarmSignals.publish("alarm.changed", { name, subject, state, previous, reason });
  }

  /** A shipped alarm knows nothing of what it watches, so it asks before it wakes anybody. */
  const isExcused = async (of: AlarmDefinition, { state, labels }: Judged): Promise<boolean> =>
    state === "ALARM" && isShipped(of) && (await isMeant(of.options.metric.name, labels));

  async function judgeTogether(definitions: readonly AlarmDefinition[], nowMs: number): Promise<void> {
    const all = await readFor(definitions, nowMs);
    const states = await store.readStates(database);
    for (const definition of definitions) {
      const own = states.filter(({ name }) => name === definition.name);
      const known = new Map(own.map(({ subject, state }) => [subject, state]));
      const window = windowOf(definition, nowMs);
      for (const judged of judgeAll(definition, all, { window, known })) {
        const previous = known.get(judged.subject) ?? "OK";
        if (judged.state === previous || (await isExcused(definition, judged))) continue;
        await change(definition, judged, previous);
      }
      judgedTo.set(definition.name, endOf(window));
    }
  }

  /** Whoever declares an alarm changes something. */
  async function refresh(nowMs: number): Promise<void> {
    if (changedAtMs <= readFromMs || nowMs - readAtMs < definitionsFreshMs) return;
    readFromMs = performance.now();
    definitions = await allDefinitions(database);
    readAtMs = nowMs;
  }

  return {
    async evaluate(changed) {
      if (changed) changedAtMs = performance.now();
      else if (performance.now() < nextAtMs) return;
      if (performance.now() - changedAtMs > settlesAfterMs(definitions)) return;
      const nowMs = await series.nowMs();
      nextAtMs = performance.now() + nextPeriodInMs(definitions, nowMs);
      await refresh(nowMs);
      const ended = definitions.filter((each) => judgedTo.get(each.name) !== endOf(windowOf(each, nowMs)));
      for (const periodMs of new Set(ended.map(periodMsOf)))
        await judgeTogether(
          ended.filter((each) => periodMsOf(each) === periodMs),
          nowMs,
        );
    },
  };
}

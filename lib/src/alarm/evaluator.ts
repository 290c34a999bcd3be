// Evaluates all alarms, in the one process that samples: what it has just looked at is judged at once.
import type { Sql } from "../pg/contract.ts";
import { addAll } from "../outbox/client.ts";
import type { Labels, Series } from "../series/contract.ts";
import type { TimeSeries } from "../series/client.ts";
import { toMs } from "../core/duration.ts";
import type { AlarmDefinition, AlarmState, MetricChoice } from "./contract.ts";
import { announcementsOf } from "./notify.ts";
import { shippedAlarms } from "./shipped.ts";
import { alarmSignals } from "./signals.ts";
import {
  describeCondition,
  judge,
  periodsBefore,
  periodsOf,
  valuesOf,
  type Period,
  type Window,
} from "./state.ts";
import * as store from "./store.ts";
import { subjectLabels, subjectText } from "./subject.ts";

export interface EvaluatorOptions {
  readonly database: Sql;
  readonly series: TimeSeries;
  /** Who answers for what an alarm watches, where the alarm itself does not say. */
  readonly ownerOf: (labels: Labels) => Promise<Responsible | undefined>;
}

export interface Responsible {
  readonly owner: string;
  readonly runbook: string | null;
}

export interface Evaluator {
  /** Judges every alarm by what is known now. `changed` says whether there is anything new. */
  evaluate(seen: { readonly changed: boolean }): Promise<void>;
}

/** Shipped alarms, each replaced by a declared one of the same name. */
export async function allDefinitions(sql: Pick<Sql, "run">): Promise<AlarmDefinition[]> {
  const declared = await store.readDefinitions(sql);
  const names = new Set(declared.map(({ name }) => name));
  return [...shippedAlarms.filter(({ name }) => !names.has(name)), ...declared];
}

export const periodMsOf = ({ options }: AlarmDefinition): number => toMs(options.period ?? "1m");

/** The last whole periods before now. */
function windowOf(definition: AlarmDefinition, nowMs: number): Window {
  const periodMs = periodMsOf(definition);
  const count = definition.options.of[1] + periodsBefore;
  return { periodMs, count, fromMs: Math.floor(nowMs / periodMs) * periodMs - count * periodMs };
}

const statisticOf = ({ statistic }: MetricChoice, { kind }: Pick<Series, "kind">) =>
  statistic ?? (kind === "counter" ? "sum" : "max");

interface Judged {
  readonly labels: Labels;
  readonly subject: string;
  readonly state: AlarmState;
  readonly value: number | null;
  readonly reason: string;
}

function reasonOf({ options }: AlarmDefinition, periods: readonly Period[], value: number | null): string {
  const [needed, size] = options.of;
  const last = periods.slice(-size);
  const breaching = last.filter((period) => period === "breaching").length;
  const missing = last.filter((period) => period === "missing").length;
  const known = `${breaching} of the last ${size} periods ${describeCondition(options.when)} (it takes ${needed})`;
  return `${known}${missing > 0 ? `, ${missing} without data` : ""}; last ${value ?? "unknown"}`;
}

/** How long after the last change the answer can still become another one by the clock alone. */
const settlesAfterMs = (definitions: readonly AlarmDefinition[]): number =>
  Math.max(...definitions.map((each) => (each.options.of[1] + periodsBefore + 2) * periodMsOf(each)));

export function makeEvaluator({ database, series, ownerOf }: EvaluatorOptions): Evaluator {
  let changedAtMs = performance.now();
  let settlesMs = Infinity;

  async function read({ name, labels }: MetricChoice, window: Window): Promise<Series[]> {
    const { fromMs, periodMs, count } = window;
    // One more before, for what a figure rose by.
    const range = { fromMs: fromMs - periodMs, toMs: fromMs + count * periodMs, stepMs: periodMs };
    return series.read({ name, labels, ...range });
  }

  /** The second metric's values of each subject. */
  async function readSecond({ options: { and } }: AlarmDefinition, window: Window) {
    const found = and ? await read(and.metric, window) : [];
    return new Map(
      found.map((each) => [
        subjectText(subjectLabels(each.labels, and!.metric.labels)),
        valuesOf(each, statisticOf(and!.metric, each), window),
      ]),
    );
  }

  async function judgeAll(
    definition: AlarmDefinition,
    nowMs: number,
    known: ReadonlyMap<string, AlarmState>,
  ): Promise<Judged[]> {
    const { metric, when, and, of, missing } = definition.options;
    const window = windowOf(definition, nowMs);
    const second = await readSecond(definition, window);
    const judgeOne = (labels: Labels, subject: string, values: readonly (number | undefined)[]): Judged => {
      const also = and && { when: and.when, values: second.get(subject) ?? [] };
      const periods = periodsOf(values, when, also);
      const current = known.get(subject) ?? "OK";
      const value = values.at(-1) ?? null;
      const state = judge({ periods, of, missing, current });
      return { labels, subject, state, value, reason: reasonOf(definition, periods, value) };
    };
    const judged = (await read(metric, window)).map((each) => {
      const labels = subjectLabels(each.labels, metric.labels);
      return judgeOne(labels, subjectText(labels), valuesOf(each, statisticOf(metric, each), window));
    });
    // What was in alarm and has no figures any more.
    const seen = new Set(judged.map(({ subject }) => subject));
    const gone = [...known].filter(([subject, state]) => !seen.has(subject) && state !== "OK");
    return [
      ...judged,
      ...gone.map(([subject]) => judgeOne({}, subject, Array<undefined>(window.count).fill(undefined))),
    ];
  }

  async function change(definition: AlarmDefinition, judged: Judged, previous: AlarmState): Promise<void> {
    const { name, options } = definition;
    const { labels, subject, state, value, reason } = judged;
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

  async function evaluateAll(): Promise<void> {
    const definitions = await allDefinitions(database);
    settlesMs = settlesAfterMs(definitions);
    const states = await store.readStates(database);
    const nowMs = await series.nowMs();
    for (const definition of definitions) {
      const own = states.filter(({ name }) => name === definition.name);
      const known = new Map(own.map(({ subject, state }) => [subject, state]));
      for (const judged of await judgeAll(definition, nowMs, known)) {
        const previous = known.get(judged.subject) ?? "OK";
        if (judged.state !== previous) await change(definition, judged, previous);
      }
    }
  }

  return {
    async evaluate({ changed }) {
      if (changed) changedAtMs = performance.now();
      if (performance.now() - changedAtMs <= settlesMs) await evaluateAll();
    },
  };
}

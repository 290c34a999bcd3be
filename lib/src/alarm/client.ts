// The asking side: which alarms there are and how they stand, their history, their runbooks with live values, a trial.
import type { Sql } from "../pg/contract.ts";
import type { Targets } from "../engine/target.ts";
import { writeAudit } from "../engine/audit.ts";
import { addAll, readDeliveries, type Delivery } from "../outbox/client.ts";
import type { Labels, Series } from "../series/contract.ts";
import type { TimeSeries } from "../series/client.ts";
import { toMs } from "../core/duration.ts";
import type {
  AlarmChange,
  AlarmDefinition,
  AlarmReport,
  AlarmStanding,
  Check,
  CheckedCheck,
  RunbookReport,
} from "./contract.ts";
import { alarmErrors } from "./contract.ts";
import { allDefinitions, lookBackMsOf, type Responsible } from "./evaluator.ts";
import { announcementsOf, commandKind, commandTargets } from "./notify.ts";
import { backlogChecks, suggestForBacklog } from "./runbook.ts";
import { isShipped } from "./shipped.ts";
import * as store from "./store.ts";
import { subjectLabels, subjectText } from "./subject.ts";

export interface Alarms {
  /** Every alarm with each thing that it watches: those in alarm first. */
  list(): Promise<AlarmReport[]>;
  /** How those of these that there are stand; one that nobody has declared is left out. */
  standing(names: readonly string[]): Promise<AlarmStanding[]>;
  /** Errors: TUNTAS_ALARM_UNKNOWN. */
  definition(name: string): Promise<AlarmDefinition>;
  /** Latest first. */
  history(of?: {
    readonly name?: string;
    readonly subject?: string;
    readonly limit?: number;
  }): Promise<AlarmChange[]>;
  /** The numbered checks with what the figures say now. Errors: TUNTAS_ALARM_UNKNOWN. */
  runbook(name: string, subject: string): Promise<RunbookReport>;
  /** Announces a trial to every receiver of the alarm; answers the announcements' ids. Errors: TUNTAS_ALARM_UNKNOWN. */
  test(
    name: string,
    by: { readonly actor: string; readonly from: string; readonly reason?: string },
  ): Promise<string[]>;
  /** What became of announcements. */
  deliveries(eventIds: readonly string[]): Promise<Delivery[]>;
  /** Removes a declared alarm, which comes back where it is still declared. Errors: TUNTAS_ALARM_UNKNOWN. */
  remove(name: string, by: { readonly actor: string; readonly from: string }): Promise<void>;
  /** Keeps what an application declares, and runs its commands from now on. Answers what ends that. */
  declare(by: string, definitions: readonly AlarmDefinition[]): Promise<() => void>;
}

export interface AlarmsOptions {
  readonly database: Sql;
  readonly series: TimeSeries;
  readonly targets: Targets;
  readonly ownerOf: (labels: Labels) => Promise<Responsible | undefined>;
}

/** What a runbook says in place of a figure that is not known. */
const nobodyLooked = "nobody looked meanwhile; ask again in ten seconds";

const rank = { ALARM: 0, INSUFFICIENT_DATA: 1, OK: 2 } as const;

export function makeAlarms({ database, series, targets, ownerOf }: AlarmsOptions): Alarms {
  async function definition(name: string): Promise<AlarmDefinition> {
    const found = (await allDefinitions(database)).find((each) => each.name === name);
    if (found) return found;
    throw alarmErrors.error("TUNTAS_ALARM_UNKNOWN", `there is no alarm ${JSON.stringify(name)}`);
  }

  /** What the alarm watches now, by what it is called. */
  async function subjectsOf({ options: { metric } }: AlarmDefinition): Promise<Map<string, Labels>> {
    const nowMs = await series.nowMs();
    const range = { fromMs: nowMs - 60_000, toMs: nowMs, stepMs: 60_000 };
    const found = await series.read({ name: metric.name, labels: metric.labels, ...range });
    const labels = found.map((each) => subjectLabels(each.labels, metric.labels));
    return new Map(labels.map((each) => [subjectText(each), each]));
  }

  async function reportsOf(of: AlarmDefinition, rows: readonly store.StateRow[]): Promise<AlarmReport[]> {
    const own = new Map(rows.filter(({ name }) => name === of.name).map((row) => [row.subject, row]));
    const subjects = await subjectsOf(of);
    const all = new Set([...subjects.keys(), ...own.keys()]);
    if (all.size === 0) all.add("");
    const { name, options } = of;
    const source = isShipped(of) ? "shipped" : "declared";
    return Promise.all(
      [...all].map(async (subject): Promise<AlarmReport> => {
        const { state = "OK", sinceMs = null, value = null, reason = "" } = own.get(subject) ?? {};
        const responsible = source === "shipped" ? await ownerOf(subjects.get(subject) ?? {}) : undefined;
        return {
          name,
          subject,
          state,
          sinceMs,
          value,
          reason,
          severity: options.severity ?? "page",
          owner: responsible?.owner ?? options.owner,
          runbook: responsible?.runbook ?? options.runbook,
          source,
        };
      }),
    );
  }

  const valueOf = ({ kind, points }: Series, { metric }: Check): number =>
    kind === "gauge" && metric!.statistic !== "max"
      ? (points.at(-1)?.last ?? 0)
      : points.reduce(
          (sum, point) => (metric!.statistic === "max" ? Math.max(sum, point.max) : sum + point.sum),
          0,
        );

  async function checked(check: Check, labels: Labels | undefined, nowMs: number): Promise<number | null> {
    if (!check.metric || labels === undefined) return null;
    const { name, labels: own } = check.metric;
    const range = { fromMs: nowMs - toMs(check.over ?? "5m"), toMs: nowMs, stepMs: 10_000 };
    const found = await series.read({ name, labels: { ...labels, ...own }, ...range });
    const isUnseen = ({ kind, points }: Series) => kind === "gauge" && points.length === 0;
    // Nobody looked meanwhile, which is not the same as none: a runbook that says 0 ends the search.
    if (found.length > 0 && found.every(isUnseen)) return null;
    return found.reduce((sum, each) => sum + valueOf(each, check), 0);
  }

  async function recentChanges(nowMs: number): Promise<string[]> {
    const marks = await series.marks({ fromMs: nowMs - 3_600_000, toMs: nowMs });
    return marks
      .filter(({ kind }) => kind !== "gap")
      .map(({ atMs, subject, text }) => `${new Date(atMs).toISOString()} ${subject}: ${text}`);
  }

  function suggestionOf(
    of: AlarmDefinition,
    checks: readonly CheckedCheck[],
    changes: readonly string[],
  ): string | null {
    const asked = of.options.checks ?? [];
    if (asked.length !== backlogChecks.length || asked[0]!.text !== backlogChecks[0].text) return null;
    if (checks.some(({ value, detail }) => value === null && detail.includes(nobodyLooked))) return null;
    const [, done, failed, deadLetters, processes, , paused, received] = checks.map(
      ({ value }) => value ?? 0,
    );
    return suggestForBacklog({
      done: done!,
      failed: failed!,
      deadLetters: deadLetters!,
      processes: processes!,
      paused: paused! > 0,
      received: received!,
      changes,
    });
  }

  return {
    definition,
    async list() {
      const definitions = await allDefinitions(database);
      const states = await store.readStates(database);
      const reports: AlarmReport[] = [];
      for (const each of definitions) reports.push(...(await reportsOf(each, states)));
      return reports.toSorted((a, b) => rank[a.state] - rank[b.state]);
    },
    async standing(names) {
      const [definitions, firing] = await Promise.all([
        allDefinitions(database),
        store.readFiring(database, names),
      ]);
      return definitions
        .filter(({ name }) => names.includes(name))
        .map((of) => ({
          name: of.name,
          windowMs: lookBackMsOf(of),
          firing: firing.filter(({ name }) => name === of.name),
        }));
    },
    history: ({ name, subject, limit = 100 } = {}) => store.readHistory(database, name, subject, limit),
    async runbook(name, subject) {
      const of = await definition(name);
      // Of what has no figures nothing is known; those of everything else would answer for another.
      const labels = subject === "" ? {} : (await subjectsOf(of)).get(subject);
      const nowMs = await series.nowMs();
      const changes = await recentChanges(nowMs);
      const asked: readonly Check[] = [
        ...(of.options.checks ?? []),
        { text: "What has changed in the last hour?" },
      ];
      const checks: CheckedCheck[] = [];
      for (const [index, check] of asked.entries()) {
        const value = await checked(check, labels, nowMs);
        const unseen = check.metric && value === null ? [nobodyLooked] : [];
        const detail = index === asked.length - 1 ? changes : unseen;
        checks.push({ number: index + 1, text: check.text, value, unit: check.unit ?? "", detail });
      }
      const responsible = isShipped(of) ? await ownerOf(labels ?? {}) : undefined;
      return {
        alarm: name,
        subject,
        runbook: responsible?.runbook ?? of.options.runbook,
        owner: responsible?.owner ?? of.options.owner,
        checks,
        suggestion: suggestionOf(of, checks, changes),
      };
    },
    async test(name, { actor, from, reason = null }) {
      const of = await definition(name);
      const { options } = of;
      return database.transaction(async (tx) => {
        const trial = {
          name,
          subject: "test",
          state: "ALARM",
          previous: "OK",
          value: null,
          reason: `a trial by ${actor}`,
        } as const;
        const atMs = await store.writeTest(tx, trial);
        const { owner, runbook, severity = "page" } = options;
        const announcement = {
          alarm: name,
          ...trial,
          at: new Date(atMs).toISOString(),
          severity,
          owner,
          runbook,
          test: true,
        };
        const added = await addAll(tx, announcementsOf(of, announcement));
        await writeAudit(tx, {
          actor,
          action: "alarm.test",
          subject: `alarm ${name}`,
          reason,
          details: { from, receivers: added.length },
        });
        return added.map(({ eventId }) => eventId);
      });
    },
    deliveries: (eventIds) => readDeliveries(database, eventIds),
    remove: (name, { actor, from }) =>
      database.transaction(async (tx) => {
        if (!(await store.removeDefinition(tx, name)))
          throw alarmErrors.error(
            "TUNTAS_ALARM_UNKNOWN",
            `no application declares an alarm ${JSON.stringify(name)}`,
          );
        await writeAudit(tx, {
          actor,
          action: "alarm.remove",
          subject: `alarm ${name}`,
          reason: null,
          details: { from },
        });
      }),
    async declare(by, definitions) {
      if (definitions.length === 0) return () => undefined;
      await store.declare(database, by, definitions);
      const undo = commandTargets(definitions).map(({ name, target }) =>
        targets.bind({ kind: commandKind, name }, target),
      );
      return () => undo.forEach((each) => each());
    },
  };
}

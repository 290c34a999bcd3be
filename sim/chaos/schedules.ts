// Schedules beside the orders, one of them due every few seconds: each due occurrence must be there once with its work, windows
// must tile, and what became of those that nobody was there for must be what their catch-up rule says.
import { openPlatform } from "tuntas";
import { overlaps, schedule } from "tuntas/schedule";
import { onDatabase } from "../cases/processes.ts";
import type { Random } from "../fault/random.ts";
import { isCaughtUp, onTimeSeconds, periodSeconds, type ModelRules } from "../model/schedule.ts";

const targets = [
  { kind: "queue", name: "scheduled" },
  { kind: "workflow", name: "Scheduled" },
];
const catchUps = ["skip", "latest", "all"] as const;
const withinSeconds = 180;
/** So many minutes before it is declared each is due first, as if nobody had been there since. */
const absentMinutesMax = 6;

interface Declared extends ModelRules {
  readonly name: string;
  readonly target: (typeof targets)[number];
}

/** Each overlap with each catch-up that may stand beside it, for each target, twice. */
const declared: readonly Declared[] = targets.flatMap((target) =>
  overlaps.flatMap((overlap) =>
    catchUps
      .filter((catchUp) => overlap !== "skip" || catchUp !== "all")
      .flatMap((catchUp) =>
        ["a", "b"].map((twin) => ({
          name: `${target.kind}-${overlap}-${catchUp}-${twin}`,
          target,
          overlap,
          catchUp,
          withinSeconds,
        })),
      ),
  ),
);

const within = `${withinSeconds}s` as const;

const definitionOf = ({ name, target, overlap, catchUp }: Declared) =>
  schedule(name, {
    when: "at(2199-01-01T00:00:00)",
    timeZone: "UTC",
    overlap,
    catchUp: catchUp === "skip" ? "skip" : catchUp === "all" ? { all: within } : { latest: within },
    target,
    succeedsWithin: "1h",
    owner: "chaos",
    runbook: "sim/README.md",
  });

/** Has it be due every minute since some minutes ago, each at a second of its own. */
const retime = `update tuntas.schedule s set expression = 'rate(1 minute)', anchor = u.first, covered_until = u.first - interval '1 minute',
    next_due = u.first, expected_by = u.first + succeeds_within
  from (select name, date_trunc('milliseconds', tuntas.now()) - make_interval(secs => ago) as first
    from unnest($1::text[], $2::int[]) as a(name, ago)) u where s.name = u.name`;

/** Declares them; the workers of the orders do what they begin. */
export async function openSchedules(url: string, random: Random): Promise<void> {
  await onDatabase(url, (client) =>
    client.query(
      "create table chaos.occurred (schedule text not null, due timestamptz not null, window_start timestamptz not null)",
    ),
  );
  const platform = await openPlatform({ databaseUrl: url, name: "chaos-schedules" });
  await platform.schedules.declare("chaos", declared.map(definitionOf));
  await platform.close();
  const agoMax = absentMinutesMax * periodSeconds;
  const ago = declared.map(() => random.integer(agoMax));
  await onDatabase(url, (client) => client.query(retime, [declared.map(({ name }) => name), ago]));
}

const clock = "select tuntas.now() as now";
const left = `select ((select count(*) from tuntas.schedule where next_due <= $1)
  + (select count(*) from tuntas.occurrence where due <= $1 and ended_at is null))::int as n`;

/** The database's clock: what was due by now is to end and is judged, and others become due meanwhile. */
export const readClock = (url: string): Promise<Date> =>
  onDatabase(url, async (client) => (await client.query(clock)).rows[0].now as Date);

/** How many of the schedules and occurrences that were due by then have not come to an end. */
export const openOccurrences = (url: string, until: Date): Promise<number> =>
  onDatabase(url, async (client) => (await client.query(left, [until])).rows[0].n as number);

const seconds = (column: string) => `extract(epoch from ${column})::float8`;
const found = `select s.name, ${seconds("s.anchor")} as anchor,
    ${seconds("least(s.next_due, (select min(o.due) from tuntas.occurrence o where o.schedule = s.name and o.due > $1))")} as next,
    (select coalesce(json_agg(json_build_object('due', ${seconds("o.due")}, 'run', o.run, 'start', ${seconds("o.window_start")},
        'end', ${seconds("o.window_end")}, 'state', o.state, 'decided', ${seconds("o.decided_at")},
        'started', ${seconds("o.started_at")}, 'ended', ${seconds("o.ended_at")},
        'effects', (select count(*) from chaos.occurred e where e.schedule = s.name and e.due = o.due and e.window_start = o.window_start))
      order by o.due, o.run), '[]') from tuntas.occurrence o where o.schedule = s.name and o.due <= $1) as occurrences,
    (select count(*)::int from chaos.occurred e where e.schedule = s.name and e.due <= $1) as effects
  from tuntas.schedule s order by s.name`;

export interface FoundOccurrence {
  readonly due: number;
  readonly run: number;
  readonly start: number;
  readonly end: number;
  readonly state: string;
  readonly decided: number;
  readonly started: number | null;
  readonly ended: number | null;
  readonly effects: number;
}

export interface FoundSchedule {
  readonly name: string;
  readonly anchor: number;
  readonly next: number;
  readonly occurrences: readonly FoundOccurrence[];
  /** Of all its work, known or not. */
  readonly effects: number;
}

const same = (one: number, other: number): boolean => Math.abs(one - other) < 0.0005;

/** Each instant from the first on has one row, and its window goes from the one before to it. */
function* notTiled({ anchor, next, occurrences }: FoundSchedule): Generator<string> {
  const count = Math.round((next - anchor) / periodSeconds);
  if (occurrences.length !== count) yield `${occurrences.length} occurrences where ${count} were due`;
  for (const [index, { due, run, start, end }] of occurrences.entries()) {
    const wanted = anchor + index * periodSeconds;
    if (run !== 0 || !same(due, wanted) || !same(end, wanted) || !same(start, wanted - periodSeconds))
      yield `number ${index}: due at ${due - anchor}, window ${start - anchor} to ${end - anchor}`;
  }
}

/** Those that were begun have succeeded and left one effect each, and nothing else has. */
function* notOnce({ occurrences, effects }: FoundSchedule): Generator<string> {
  for (const { due, state, effects: own } of occurrences) {
    const wanted = { succeeded: 1, missed: 0, skipped: 0 }[state];
    if (own !== wanted) yield `${due}: ${state}, with ${own} effects`;
  }
  const known = occurrences.reduce((sum, each) => sum + each.effects, 0);
  if (known !== effects) yield `${effects - known} effects that belong to no occurrence`;
}

/** Those that were late are missed where the rule says so, and no others are; only who may be skipped was. */
function* notByTheRule(rules: ModelRules, { occurrences }: FoundSchedule): Generator<string> {
  for (const { due, state, decided } of occurrences) {
    const isLast = !occurrences.some((each) => each.decided === decided && each.due > due);
    const isBegun = isCaughtUp(rules, decided - due, isLast);
    if (isBegun !== (state !== "missed")) yield `${due}: ${state}, found ${decided - due} s late`;
    if (state === "skipped" && rules.overlap !== "skip") yield `${due}: skipped`;
  }
}

/** Where they may not overlap, none began before the one before it had ended. */
function* notInTurn({ overlap }: ModelRules, { occurrences }: FoundSchedule): Generator<string> {
  if (overlap === "allow") return;
  const begun = occurrences.filter(({ started }) => started !== null);
  for (const [index, { due, started }] of begun.entries()) {
    const before = begun[index - 1];
    if (before && (before.ended === null || before.ended > started!))
      yield `${due}: began while ${before.due} ran`;
  }
}

/** What is amiss of a schedule; empty where all is as its rules say. */
export const amissOf = (rules: ModelRules, of: FoundSchedule): string[] =>
  [...notTiled(of), ...notOnce(of), ...notByTheRule(rules, of), ...notInTurn(rules, of)].map(
    (what) => `${of.name}: ${what}`,
  );

/** What became of all that were due by then. */
export async function judgeSchedules(url: string, until: Date) {
  const all = await onDatabase(
    url,
    async (client) => (await client.query(found, [until])).rows as FoundSchedule[],
  );
  const rulesOf = new Map(declared.map((each) => [each.name, each]));
  const occurrences = all.flatMap((each) => each.occurrences);
  const count = (state: string) => occurrences.filter((each) => each.state === state).length;
  return {
    figures: {
      schedules: all.length,
      due: occurrences.length,
      late: occurrences.filter(({ due, decided }) => decided - due > onTimeSeconds).length,
      succeeded: count("succeeded"),
      missed: count("missed"),
      skipped: count("skipped"),
    },
    amiss: all.flatMap((each) => amissOf(rulesOf.get(each.name)!, each)),
  };
}

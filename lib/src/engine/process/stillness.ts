// Whether anything in the database has changed at all: PostgreSQL counts what happens to each table. The beat asks for it
// now and then, so what would look for itself every few seconds, or every minute, rests while there is nothing to see. The
// counts come late by a second or so, and up to ten where a session falls idle.
import type { Agendum } from "../agenda.ts";

// What changes without work being done: heartbeats, chores, sessions of people who look, the figures themselves.
const quiet = [
  "process",
  "duty",
  "chore",
  "series",
  "series_point",
  "series_mark",
  "access_session",
  "access_attempt",
  "migration",
];

const counts = `select sum(pg_stat_get_tuples_inserted(c.oid) + pg_stat_get_tuples_updated(c.oid) + pg_stat_get_tuples_deleted(c.oid))::text
  from pg_class c where c.relnamespace = (select p.relnamespace from pg_class p where p.oid = 'tuntas.process'::regclass)
    and c.relkind = 'r' and c.relname <> all('{${quiet.join(",")}}')`;

/** With the beats, which come every 1.0 to 1.2 s, a look every ten seconds. */
const lookEveryMs = 9000;
/** Longer than the counts are late, and than anything that looks once a minute. */
const stillAfterMs = 90_000;

export interface Stillness {
  readonly agendum: Agendum;
  /** Called at each look, with whether there was a change since the one before. */
  onLook(hear: (changed: boolean) => void): void;
  /** Nothing has changed for a minute and a half. */
  isStill(): boolean;
}

export function makeStillness(now: () => number = () => performance.now()): Stillness {
  const hearers: ((changed: boolean) => void)[] = [];
  let known: string | undefined;
  let changedAtMs = now();
  let lookedAtMs = -Infinity;

  function hear(answer: string | null): void {
    if (answer === null) return;
    lookedAtMs = now();
    const changed = answer !== known;
    if (changed) changedAtMs = lookedAtMs;
    known = answer;
    for (const each of hearers) each(changed);
  }

  return {
    agendum: {
      ask: `case when $given then (${counts}) end`,
      given: { type: "boolean", read: () => now() - lookedAtMs >= lookEveryMs },
      hear: (answer) => hear(answer as string | null),
    },
    onLook: (each) => void hearers.push(each),
    isStill: () => now() - changedAtMs >= stillAfterMs,
  };
}

// What processes tell each other about a provider, one row each.
import { statement } from "../../pg/database.ts";
import { ms } from "../../pg/instant.ts";
import type { Runner } from "../../pg/join.ts";

const look = statement(
  `select ${ms("open_until - tuntas.now()")} as "openMs" from tuntas.provider where name = $1`,
);

/** For how long the provider is left alone: zero or less where one may try it, null where it is not. */
export const readOpenMs = async (sql: Runner, name: string): Promise<number | null> =>
  (await sql.run<{ openMs: number | null }>(look, [name]))[0]?.openMs ?? null;

const open = statement(
  `insert into tuntas.provider as p (name, open_until, openings) values ($1, tuntas.now() + make_interval(secs => $2::float8), 1)
   on conflict (name) do update set openings = p.openings + 1,
     open_until = tuntas.now() + make_interval(secs => least($3::float8, $2::float8 * 2 ^ least(p.openings, 30)))
     where $4::boolean or p.open_until is null`,
);

export interface Opening {
  readonly name: string;
  readonly trialMs: number;
  readonly trialMaxMs: number;
  /** A trial failed; else calls of a provider that nobody had found to be down. */
  readonly afterTrial: boolean;
}

/** Leaves the provider alone; where others have found the same a moment before, theirs stands. */
export const openProvider = (sql: Runner, { name, trialMs, trialMaxMs, afterTrial }: Opening) =>
  sql.run(open, [name, trialMs / 1000, trialMaxMs / 1000, afterTrial]);

const claim = statement(
  `update tuntas.provider set open_until = tuntas.now() + make_interval(secs => $2::float8) where name = $1 and open_until <= tuntas.now() returning name`,
);

/** Whether this process is the one that tries; the others wait for so long. */
export const claimTrial = async (sql: Runner, name: string, forMs: number): Promise<boolean> =>
  (await sql.run(claim, [name, forMs / 1000])).length > 0;

const close = statement(
  `update tuntas.provider set open_until = null, openings = 0 where name = $1 and open_until is not null`,
);

export const closeProvider = (sql: Runner, name: string) => sql.run(close, [name]);

// A second's worth may be saved up. What is taken beyond that is taken ahead of its time.
const take = statement(
  `insert into tuntas.provider as p (name, tokens, tokens_at) values ($1, $2::float8 - $3, tuntas.now())
   on conflict (name) do update set tokens_at = tuntas.now(),
     tokens = least($2::float8, coalesce(p.tokens, $2) + $2 * greatest(0, extract(epoch from tuntas.now() - coalesce(p.tokens_at, tuntas.now()))::float8)) - $3
   returning tokens + $3 as before`,
);

/** Takes so many calls at this rate; answers how many were there before. */
export const takeCalls = async (
  sql: Runner,
  name: string,
  { perSecond, count }: { readonly perSecond: number; readonly count: number },
): Promise<number> => (await sql.run<{ before: number }>(take, [name, perSecond, count]))[0]!.before;

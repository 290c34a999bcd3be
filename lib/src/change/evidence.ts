// What the steps of a change need to be so, as the database says it.
import { durationText, measuredText } from "../core/duration.ts";
import { counted } from "../core/text.ts";
import type { Queues } from "../queue/client/index.ts";
import { defaultScope } from "../queue/contract.ts";
import { readStatus } from "../outbox/client.ts";
import { readNowMs } from "../pg/clock.ts";
import type { Queryable } from "../pg/contract.ts";
import type { Database } from "../pg/database.ts";
import type { ChangeSpec, ChangeStep, ColumnSpec, MessageSpec, Outlook } from "./contract.ts";
import { difference } from "./shape.ts";
import type { ChangeRow } from "./store.ts";

/** What is known of a run of a backfill. */
export interface BackfillRun {
  readonly id: string;
  readonly state: string;
  readonly askedAtMs: number;
}

export interface Looking {
  readonly database: Database;
  readonly queues: Pick<Queues, "catalog" | "observer" | "inspector" | "deadLetters">;
  readonly runsOf: (backfill: string) => Promise<readonly BackfillRun[]>;
}

const nothing: Outlook = { found: [], lacks: [] };
const lacking = (...lacks: string[]): Outlook => ({ found: [], lacks });
const seen = (...found: string[]): Outlook => ({ found, lacks: [] });

interface Column {
  readonly name: string;
  /** Whether a row can be written that does not say it. */
  readonly mayBeLeftOut: boolean;
}

const columnText = `select attname as name, not attnotnull or atthasdef or attidentity <> '' as "mayBeLeftOut"
  from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped and attname = $2`;

async function columnOf(client: Queryable, { table }: ColumnSpec, name: string): Promise<Column | undefined> {
  return (await client.query(columnText, [table, name])).rows[0];
}

export async function lookAdded(client: Queryable, spec: ColumnSpec): Promise<Outlook> {
  const { table, from, to } = spec;
  if (!(await columnOf(client, spec, from))) return lacking(`${table} has no column ${from}`);
  const column = await columnOf(client, spec, to);
  if (!column) return lacking(`${table} has no column ${to}: a migration adds it`);
  return column.mayBeLeftOut
    ? seen(`${table}.${to} is there, and may be left out`)
    : lacking(`${table}.${to} is not null without a default: releases that do not know it cannot write`);
}

const wrongRowsMax = 1000;

/** A look at all rows; what takes longer than five minutes is told as a busy database. */
async function lookSame({ database }: Looking, { table, same }: ColumnSpec): Promise<Outlook> {
  const { rows } = await database.transaction(async ({ client }) => {
    await client.query("set local statement_timeout = '5min'");
    return client.query(
      `select count(*)::int as wrong from (select from ${table} where (${same}) is not true limit ${wrongRowsMax}) w`,
    );
  });
  const { wrong } = rows[0] as { wrong: number };
  const many = wrong === wrongRowsMax ? `${wrong} rows or more` : counted(wrong, "row");
  return wrong === 0
    ? seen(`on every row of ${table}: ${same}`)
    : lacking(`not on ${many} of ${table}: ${same}`);
}

const together = (...all: readonly Outlook[]): Outlook => ({
  found: all.flatMap(({ found }) => found),
  lacks: all.flatMap(({ lacks }) => lacks),
});

async function lookBackfill(
  { runsOf }: Looking,
  { backfill }: ColumnSpec,
  sinceMs: number,
): Promise<Outlook> {
  if (backfill === null) return nothing;
  const runs = (await runsOf(backfill)).filter(({ askedAtMs }) => askedAtMs >= sinceMs);
  const over = ["completed", "aborted", "rolled_back"];
  const open = runs.filter(({ state }) => !over.includes(state));
  if (open.length > 0)
    return lacking(...open.map(({ id, state }) => `run ${id} of backfill ${backfill} is ${state}`));
  const done = runs.filter(({ state }) => state === "completed").map(({ id }) => id);
  return done.length === 0
    ? lacking(`backfill ${backfill} has no completed run that was planned since both are written`)
    : seen(`backfill ${backfill} has completed (run ${done.join(", ")})`);
}

async function lookOldIsFree({ database }: Looking, spec: ColumnSpec): Promise<Outlook> {
  const old = await columnOf(database, spec, spec.from);
  if (old && !old.mayBeLeftOut)
    return lacking(
      `${spec.table}.${spec.from} is not null without a default: a release that leaves it out cannot write`,
    );
  return nothing;
}

async function lookGone({ database }: Looking, spec: ColumnSpec): Promise<Outlook> {
  const gone = `${spec.table}.${spec.from} is`;
  return (await columnOf(database, spec, spec.from)) ? lacking(`${gone} still there`) : seen(`${gone} gone`);
}

async function lookQuiet(
  { queues, database }: Looking,
  spec: MessageSpec,
  sinceMs: number,
): Promise<Outlook> {
  const { queue: name, watchMs } = spec;
  const quietMs = (await readNowMs(database)) - sinceMs;
  const queue = await queues.catalog.get(defaultScope, name);
  const dead = await queues.deadLetters.groups(defaultScope, { queue: name, sinceMs });
  const { observation, signs } = await queues.inspector.diagnose(queue);
  const { targets } = await readStatus(database);
  const outbox = targets.find(({ target }) => target.kind === "queue" && target.name === name);
  const { oldestAgeMs } = observation;
  const lacks = [
    quietMs < watchMs && `all have switched for ${measuredText(quietMs)}, expected ${durationText(watchMs)}`,
    ...dead.map(({ count, code }) => `${counted(count, "message")} died since (${code})`),
    ...signs.filter(({ code }) => code !== "DEAD_LETTERS_GROWING").map(({ text }) => text),
    (oldestAgeMs ?? 0) > watchMs && `the oldest message waits for ${measuredText(oldestAgeMs!)}`,
    outbox && outbox.parked > 0 && `${counted(outbox.parked, "announcement")} to it lie parked in the outbox`,
    (outbox?.oldestAgeMs ?? 0) > quietMs && "the outbox holds what was announced before all had switched",
  ].filter((each) => typeof each === "string");
  return lacks.length > 0
    ? lacking(...lacks)
    : seen(`nothing died or was tried again in ${durationText(watchMs)}`);
}

async function lookDrained(
  { queues }: Looking,
  { queue: name }: MessageSpec,
  through: string,
): Promise<Outlook> {
  const left = await queues.observer.left(defaultScope, { name, through });
  return left.length === 0
    ? seen("no message is left of before all had switched")
    : lacking(
        ...left.map(
          ({ place, count }) =>
            `${counted(count, "message")} of before ${count === 1 ? "is" : "are"} ${place}`,
        ),
      );
}

const atMsOf = ({ steps }: ChangeRow, step: ChangeStep): number => steps[step]?.atMs ?? 0;

/** What a step needs besides the right releases. */
export async function lookAt(looking: Looking, row: ChangeRow, step: ChangeStep): Promise<Outlook> {
  const { spec } = row;
  if (spec.kind === "message") {
    if (step === "checked")
      return seen(`what is sent changes by ${difference(spec.from, spec.to)}; both are taken`);
    if (step === "watched") return lookQuiet(looking, spec, atMsOf(row, "sent"));
    return step === "drained" ? lookDrained(looking, spec, row.mark ?? "0") : nothing;
  }
  if (step === "added") return lookAdded(looking.database, spec);
  if (step === "filled")
    return together(await lookBackfill(looking, spec, atMsOf(row, "written")), await lookSame(looking, spec));
  if (step === "verified") return together(await lookSame(looking, spec), await lookOldIsFree(looking, spec));
  return step === "removed" ? lookGone(looking, spec) : nothing;
}

interface Fresh {
  readonly found: string;
  /** There is nothing left to change. */
  readonly isOver: boolean;
}

/** Why a release may begin at a later step at once: there is nothing that it could do wrong to. Undefined where there is. */
export async function lookFresh(
  { queues }: Looking,
  client: Queryable,
  spec: ChangeSpec,
): Promise<Fresh | undefined> {
  if (spec.kind === "message") {
    const left = await queues.observer.left(defaultScope, { name: spec.queue, through: null });
    return left.length === 0 ? { found: `queue ${spec.queue} is empty`, isOver: false } : undefined;
  }
  if (!(await columnOf(client, spec, spec.to))) return undefined;
  if (!(await columnOf(client, spec, spec.from)))
    return { found: `${spec.table} has no column ${spec.from}`, isOver: true };
  const { rows } = await client.query(`select exists (select from ${spec.table}) as any`);
  return rows[0].any ? undefined : { found: `${spec.table} is empty`, isOver: false };
}

// The asking side of changes: an application that starts says which releases it is, a person brings a change on or back.
import { writeAudit } from "../engine/audit.ts";
import { readNowMs } from "../pg/clock.ts";
import type { Tx } from "../pg/contract.ts";
import {
  changeErrors,
  type ChangeDefinition,
  type ChangeReport,
  type ChangeStep,
  type LiveRelease,
  type Outlook,
  type Reached,
  type Release,
} from "./contract.ts";
import { lookAdded, lookAt, lookFresh, type Looking } from "./evidence.ts";
import {
  earlierStep,
  isSame,
  lacksOfLive,
  lacksToGoBack,
  lastOf,
  mayStart,
  neededBy,
  nextOf,
  nextStep,
  stepsUpTo,
  textOf,
  thingOf,
  verdictOf,
} from "./state.ts";
import type { Judge } from "../pg/migrate/application/index.ts";
import * as store from "./store.ts";
import type { ChangeRow } from "./store.ts";

/** Who says it and why; both go on the record. */
interface Act {
  readonly by: string;
  readonly reason: string;
}

/** What an application uses, and what it says of changes. */
export interface Entering {
  readonly queues: readonly { readonly name: string }[];
  /** That of its migrations. */
  readonly schema: string | undefined;
  readonly changes: readonly ChangeDefinition[];
}

export interface Changes {
  /**
   * Says which release of each change this process is, before anything of it works; answers what ends that. Errors:
   * TUNTAS_CHANGE_RELEASE where it may not run beside what there is; TUNTAS_CHANGE_OPTIONS.
   */
  enter(entering: Entering): Promise<() => Promise<void>>;
  list(): Promise<ChangeReport[]>;
  /** Errors: TUNTAS_CHANGE_MISSING. */
  show(name: string): Promise<ChangeReport>;
  /** What the next step needs, by a look at it now; undefined where the change is over. Errors: TUNTAS_CHANGE_MISSING. */
  outlook(name: string): Promise<Outlook | undefined>;
  /** Comes to the next step. Errors: TUNTAS_CHANGE_MISSING, _SKIPPED where `to` is another, _NOT_YET with what it needs. */
  advance(name: string, act: Act & { readonly to?: string | undefined }): Promise<ChangeReport>;
  /** Goes back to an earlier step, or "none". Errors: as of `advance`, where a process is alive that may not run there. */
  back(name: string, act: Act & { readonly to: string }): Promise<ChangeReport>;
  /** What changes of the tables of a schema say now to statements of its migrations. */
  judge(schema: string): Promise<Judge>;
}

const missing = (name: string) =>
  changeErrors.error("TUNTAS_CHANGE_MISSING", `there is no change ${JSON.stringify(name)}`);

function refuseNotYet(row: ChangeRow, step: string, lacks: readonly string[]): void {
  if (lacks.length > 0)
    throw changeErrors.error("TUNTAS_CHANGE_NOT_YET", `${row.name} is not yet ${step}: ${lacks.join("; ")}`, {
      details: { lacks },
    });
}

const refusedRelease = ({ name, kind, step }: ChangeRow, release: Release, why = "") =>
  changeErrors.error(
    "TUNTAS_CHANGE_RELEASE",
    `change ${name} ${step === null ? "has not begun" : `is ${step}`}: expected release ${mayStart(kind, step).join(" or ")}, got ${release}${why}`,
  );

interface Move extends Omit<Reached, "atMs"> {
  readonly verb: "begin" | "advance" | "back";
  readonly to: ChangeStep | null;
  readonly mark?: string;
}

/** Writes the step, with its record where it is new; the steps after it are forgotten. */
async function moveTo(tx: Tx, row: ChangeRow, { to, verb, mark, ...record }: Move): Promise<ChangeRow> {
  const { by, reason, found } = record;
  const reached = to !== null && verb !== "back" && { [to]: { ...record, atMs: await readNowMs(tx) } };
  const steps = { ...stepsUpTo(row, to), ...reached };
  const moved: ChangeRow = { ...row, step: to, steps, ...(mark !== undefined && { mark }) };
  await store.writeChange(tx, moved);
  const details = { from: row.step, to, found };
  await writeAudit(tx, {
    actor: by,
    action: `change.${verb}`,
    subject: `change ${row.name}`,
    reason,
    details,
  });
  return moved;
}

export function makeChanges(looking: Looking): Changes {
  const { database, queues } = looking;
  const starting = { by: "start", reason: "a process that declares it starts", verb: "begin" } as const;

  const liveOf = (sql: Pick<Tx, "run">, { spec, name }: ChangeRow): Promise<LiveRelease[]> =>
    store.readLive(sql, thingOf(spec), name);

  /** A change that has not begun: with nothing to do wrong to, or where all that it needs is a column that is there. */
  async function begin(tx: Tx, row: ChangeRow, release: Release): Promise<ChangeRow> {
    const to = neededBy(row.kind, release);
    const fresh = (await liveOf(tx, row)).length === 0 && (await lookFresh(looking, tx.client, row.spec));
    if (fresh)
      return moveTo(tx, row, { ...starting, to: fresh.isOver ? lastOf(row.kind) : to, found: [fresh.found] });
    if (to !== "added" || row.spec.kind !== "column") throw refusedRelease(row, release);
    const { found, lacks } = await lookAdded(tx.client, row.spec);
    if (lacks.length > 0) throw refusedRelease(row, release, `: ${lacks.join("; ")}`);
    return moveTo(tx, row, { ...starting, to, found });
  }

  async function admit(tx: Tx, kept: ChangeRow, definition: ChangeDefinition | undefined): Promise<void> {
    // Who does not declare it is as before it, or as after it.
    if (!definition && kept.step === lastOf(kept.kind)) return;
    if (definition && !isSame(definition.spec, kept.spec))
      throw changeErrors.error(
        "TUNTAS_CHANGE_OPTIONS",
        `change ${kept.name}: expected ${textOf(kept.spec)} as this database has it, got ${textOf(definition.spec)}`,
      );
    const row = definition ? { ...kept, spec: definition.spec } : kept;
    const release = definition?.options.release ?? "old";
    if (mayStart(row.kind, row.step).includes(release)) await store.writeChange(tx, row);
    else if (row.step === null && definition) await begin(tx, row, release);
    else throw refusedRelease(row, release, definition ? "" : " (it is not declared)");
  }

  async function enter({ queues: used, schema, changes }: Entering): Promise<() => Promise<void>> {
    const things = [
      ...used.map(({ name }) => `queue ${name}`),
      ...(schema === undefined ? [] : [`schema ${schema}`]),
    ];
    const stranger = changes.find(({ spec }) => !things.includes(thingOf(spec)));
    if (stranger)
      throw changeErrors.error(
        "TUNTAS_CHANGE_OPTIONS",
        `change ${stranger.name}: expected ${thingOf(stranger.spec)} among what the application declares (its queues, the schema of its migrations)`,
      );
    if (things.length === 0) return async () => undefined;
    const byName = new Map(changes.map((each) => [each.name, each]));
    const id = await database.transaction(async (tx) => {
      for (const { name, spec } of changes.toSorted((a, b) => (a.name < b.name ? -1 : 1)))
        await store.keepChange(tx, { name, spec, thing: thingOf(spec) });
      for (const row of await store.lockChangesOf(tx, things)) await admit(tx, row, byName.get(row.name));
      const releases = Object.fromEntries(changes.map(({ name, options }) => [name, options.release]));
      return store.enterUse(tx, { things, releases });
    });
    return async () => void (await store.leaveUse(database, id).catch(() => undefined));
  }

  async function rowOf(name: string): Promise<ChangeRow> {
    const [row] = await store.readChanges(database, name);
    if (row) return row;
    throw missing(name);
  }

  async function reportOf(row: ChangeRow): Promise<ChangeReport> {
    const { name, kind, spec, step, steps } = row;
    const live = await liveOf(database, row);
    return { name, spec, step, next: nextOf(kind, step), steps, mayStart: mayStart(kind, step), live };
  }

  /** Works on the row as it is locked, where its step is still the one that was looked at. */
  const locked = (
    seen: ChangeRow,
    work: (tx: Tx, row: ChangeRow) => Promise<ChangeRow>,
  ): Promise<ChangeRow> =>
    database.transaction(async (tx) => {
      const row = (await store.lockChange(tx, seen.name))!;
      if (row.step !== seen.step)
        throw changeErrors.error("TUNTAS_CHANGE_SKIPPED", `${row.name} has meanwhile come to ${row.step}`);
      return work(tx, row);
    });

  async function advance(name: string, { to, by, reason }: Act & { to?: string | undefined }) {
    const seen = await rowOf(name);
    const step = nextStep(seen, to);
    const { found, lacks } = await lookAt(looking, seen, step);
    const moved = await locked(seen, async (tx, row) => {
      const live = await liveOf(tx, row);
      refuseNotYet(row, step, [...lacksOfLive(step, live), ...lacks]);
      const running = [...new Set(live.map(({ release }) => release))].map(
        (each) =>
          `release ${each} runs in ${live.filter(({ release }) => release === each).length} of ${live.length}`,
      );
      const mark = step === "watched" ? { mark: await queues.observer.lastId() } : {};
      return moveTo(tx, row, {
        to: step,
        verb: "advance",
        by,
        reason,
        found: [...found, ...running],
        ...mark,
      });
    });
    return reportOf(moved);
  }

  async function back(name: string, { to, by, reason }: Act & { to: string }) {
    const seen = await rowOf(name);
    const step = earlierStep(seen, to);
    const moved = await locked(seen, async (tx, row) => {
      refuseNotYet(row, `back at ${to}`, lacksToGoBack(row.kind, step, await liveOf(tx, row)));
      return moveTo(tx, row, { to: step, verb: "back", by, reason, found: [] });
    });
    return reportOf(moved);
  }

  async function outlook(name: string): Promise<Outlook | undefined> {
    const row = await rowOf(name);
    const step = nextOf(row.kind, row.step);
    if (step === null) return undefined;
    const { found, lacks } = await lookAt(looking, row, step);
    return { found, lacks: [...lacksOfLive(step, await liveOf(database, row)), ...lacks] };
  }

  async function judge(schema: string): Promise<Judge> {
    const rows = (await store.readChanges(database, null)).filter(
      ({ spec }) => thingOf(spec) === `schema ${schema}`,
    );
    const all = await Promise.all(rows.map(async (row) => ({ ...row, live: await liveOf(database, row) })));
    return (statement) => verdictOf(statement, all);
  }

  return {
    enter,
    list: async () => Promise.all((await store.readChanges(database, null)).map(reportOf)),
    show: async (name) => reportOf(await rowOf(name)),
    outlook,
    advance,
    back,
    judge,
  };
}

// The rows of changes, and of the processes that run a release of them.
import { hostname } from "node:os";
import { statement } from "../pg/database.ts";
import type { Runner } from "../pg/join.ts";
import type { ChangeKind, ChangeReport, ChangeSpec, ChangeStep, LiveRelease, Release } from "./contract.ts";

/** A change as its row has it. */
export interface ChangeRow {
  readonly name: string;
  readonly kind: ChangeKind;
  readonly spec: ChangeSpec;
  readonly step: ChangeStep | null;
  readonly steps: ChangeReport["steps"];
  /** Of a message: the id of the last one that may be of the old shape. */
  readonly mark?: string;
}

interface Stored extends Pick<ChangeRow, "name" | "kind" | "step"> {
  readonly [column: string]: unknown;
  readonly spec: string;
  readonly steps: string;
}

const rowOf = ({ name, kind, step, spec, steps }: Stored): ChangeRow => {
  const { mark, ...reached } = JSON.parse(steps) as ChangeReport["steps"] & { mark?: string };
  return { name, kind, step, spec: JSON.parse(spec), steps: reached, ...(mark !== undefined && { mark }) };
};

const columns = "name, kind, spec, step, steps";
const read = statement(
  `select ${columns} from tuntas.change where ($1::text is null or name = $1) order by name`,
);
const readOf = statement(
  `select ${columns} from tuntas.change where thing = any($1) order by name for update`,
);
const lock = statement(`select ${columns} from tuntas.change where name = $1 for update`);

/** All, or the one of that name. */
export const readChanges = async (sql: Runner, name: string | null): Promise<ChangeRow[]> =>
  (await sql.run<Stored>(read, [name])).map(rowOf);

/** Those of these things, locked until the end of the transaction: what starts and what moves on see each other. */
export const lockChangesOf = async (tx: Runner, things: readonly string[]): Promise<ChangeRow[]> =>
  (await tx.run<Stored>(readOf, [things])).map(rowOf);

export const lockChange = async (tx: Runner, name: string): Promise<ChangeRow | undefined> =>
  (await tx.run<Stored>(lock, [name])).map(rowOf)[0];

const keep = statement(
  "insert into tuntas.change (name, kind, thing, spec) values ($1, $2, $3, $4) on conflict (name) do nothing",
);

export const keepChange = (
  tx: Runner,
  { name, spec, thing }: { readonly name: string; readonly spec: ChangeSpec; readonly thing: string },
) => tx.run(keep, [name, spec.kind, thing, JSON.stringify(spec)]);

const write = statement("update tuntas.change set spec = $2, step = $3, steps = $4 where name = $1");

export const writeChange = (tx: Runner, { name, spec, step, steps, mark }: ChangeRow) =>
  tx.run(write, [name, JSON.stringify(spec), step, JSON.stringify({ ...steps, mark })]);

// A container that begins anew has the host and the pid of the one before it. Who was taken for dead may come back: his row stays
// for a week.
const enter = statement(
  `with gone as (
     delete from tuntas.change_process c where (c.host, c.pid) = ($1, $2) and c.boot <> $3
       or c.began_at < tuntas.now() - interval '7 days' and not exists (select from tuntas.process p where (p.host, p.pid) = (c.host, c.pid)))
   insert into tuntas.change_process (host, pid, boot, began_at, things, releases) values ($1, $2, $3, tuntas.now(), $4, $5) returning id::text`,
);
const leave = statement("delete from tuntas.change_process where id = $1::uuid");

const boot = crypto.randomUUID();

export interface Use {
  readonly things: readonly string[];
  readonly releases: Readonly<Record<string, Release>>;
}

/** From now on this process uses these things, by these releases; answers the id of that. */
export const enterUse = async (tx: Runner, { things, releases }: Use): Promise<string> =>
  (await tx.run<{ id: string }>(enter, [hostname(), process.pid, boot, things, JSON.stringify(releases)]))[0]!
    .id;

export const leaveUse = (sql: Runner, id: string) => sql.run(leave, [id]);

const live = statement(
  `select (select p.name || ' (pid ' || p.pid || ' on ' || p.host || ')' from tuntas.process p
       where (p.host, p.pid) = (c.host, c.pid) and p.expires_at > tuntas.now() order by p.id limit 1) as process,
     coalesce(c.releases::json ->> $2, 'old') as release
   from tuntas.change_process c where $1 = any(c.things)
     and exists (select from tuntas.process p where (p.host, p.pid) = (c.host, c.pid) and p.expires_at > tuntas.now()) order by 1, 2`,
);

/** The live processes that use the thing, and their release of the change; who knows nothing of it is as before it. */
export const readLive = (sql: Runner, thing: string, name: string): Promise<LiveRelease[]> =>
  sql.run<LiveRelease & {}>(live, [thing, name]);

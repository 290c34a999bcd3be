// What the database says of itself, and of what is in it. Read only: nothing is created, not even the schema.
import type { Database } from "../pg/database.ts";
import { statement } from "../pg/database.ts";
import { readMigrations } from "../pg/migrate/index.ts";
import { ok, problem, warning, type Finding } from "./contract.ts";

/** What is old enough to be worth a word. */
export interface Thresholds {
  readonly oldSnapshotSeconds?: number | undefined;
}

type Check = (database: Database, thresholds: Thresholds) => Promise<Finding>;

const version: Check = async ({ serverVersion, url }) => {
  const { hostname } = new URL(url);
  return ok(
    "database",
    `PostgreSQL ${Math.floor(serverVersion / 10_000)}.${serverVersion % 10_000} on ${hostname}`,
  );
};

const pooler: Check = async ({ pooled }) =>
  pooled
    ? warning(
        "pooler",
        "a transaction pooler stands in front of the database: no session lock, no LISTEN, no prepared statements",
        "It works; a dead process is noticed by its lease (15 s) instead of at once. For the worker, connect past the pooler.",
      )
    : ok("pooler", "connected to PostgreSQL itself: a dead process is noticed in about a second");

const clockDifference = statement(`select date_part('epoch', clock_timestamp()) * 1000 as ms`);

const clock: Check = async (database) => {
  const before = Date.now();
  const [row] = await database.run<{ ms: number }>(clockDifference);
  const differenceMs = Math.round(row!.ms - (before + Date.now()) / 2);
  const text = `the database's clock is ${Math.abs(differenceMs)} ms ${differenceMs < 0 ? "behind" : "ahead of"} this host's`;
  return Math.abs(differenceMs) < 1000
    ? ok("clock", text)
    : warning(
        "clock",
        text,
        "Leases and delays follow the database and are right. Set both by NTP, so that logs of both agree.",
      );
};

const localeFacts = statement(
  `select datcollate as name, datcollversion as was, pg_database_collation_actual_version(oid) as is
   from pg_database where datname = current_database()`,
);

const locale: Check = async (database) => {
  const [row] = await database.run<{ name: string; was: string | null; is: string | null }>(localeFacts);
  const { name, was, is } = row!;
  return was === is
    ? ok("locale", `UTF-8, ${name}`)
    : warning(
        "locale",
        `the sort order of ${name} has changed from version ${was} to ${is} since the database was made`,
        "Reindex it: reindex database; then alter database … refresh collation version.",
      );
};

const durability = statement(
  `select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit`,
);

const safety: Check = async (database) => {
  const [row] = await database.run<{ fsync: string; commit: string }>(durability);
  const isSafe = row!.fsync === "on" && row!.commit !== "off";
  const text = `fsync ${row!.fsync}, synchronous_commit ${row!.commit}`;
  return isSafe
    ? ok("durability", text)
    : warning("durability", text, "A crash of the database may lose what was confirmed. Switch both on.");
};

// A snapshot keeps dead rows of its own database only; a standby's, which belongs to none, those of all.
const oldest = statement(
  `select * from (
     select 'session ' || pid || ' (' || coalesce(nullif(application_name, ''), usename, '?') || ', ' || coalesce(state, '?') || ')' as holder,
       pid, date_part('epoch', clock_timestamp() - xact_start) as seconds
     from pg_stat_activity where backend_xmin is not null and pid <> pg_backend_pid() and (datname = current_database() or datname is null)
     union all
     select 'prepared transaction ' || gid, null, date_part('epoch', clock_timestamp() - prepared) from pg_prepared_xacts where database = current_database()
   ) held where seconds is not null order by seconds desc limit 1`,
);
const snapshot: Check = async (database, { oldSnapshotSeconds = 60 }) => {
  const [row] = await database.run<{ holder: string; pid: number | null; seconds: number }>(oldest);
  if (!row || row.seconds < oldSnapshotSeconds)
    return ok("snapshot", "no old snapshot keeps dead rows from being removed");
  const remedy =
    row.pid === null
      ? "Commit or roll it back."
      : `End what it does, or: select pg_terminate_backend(${row.pid});`;
  return warning(
    "snapshot",
    `${row.holder} has held a snapshot for ${Math.round(row.seconds)} s; queues get slow, because dead rows stay`,
    remedy,
  );
};

const slots = statement(
  `select slot_name as name, age(coalesce(xmin, catalog_xmin))::float8 as age from pg_replication_slots
   where coalesce(xmin, catalog_xmin) is not null order by 2 desc limit 1`,
);

const slot: Check = async (database) => {
  const [row] = await database.run<{ name: string; age: number }>(slots);
  return row && row.age > 1_000_000
    ? warning(
        "replication slot",
        `slot ${row.name} holds back ${row.age} transactions`,
        `Let its consumer catch up, or drop it: select pg_drop_replication_slot('${row.name}');`,
      )
    : ok("replication slot", "no replication slot holds dead rows back");
};

export const serverChecks: readonly Check[] = [version, pooler, clock, locale, safety, snapshot, slot];

const known = statement(`select number from tuntas.migration order by number`);
const exists = statement(`select to_regclass('tuntas.migration') is not null as here`);

/** The state of the schema; `ready` where the checks of what is in it can run. */
export async function examineSchema(database: Database): Promise<{ finding: Finding; ready: boolean }> {
  const [row] = await database.run<{ here: boolean }>(exists);
  if (!row!.here) return { finding: ok("schema", "not there yet; the first start makes it"), ready: false };
  const applied = new Set((await database.run<{ number: number }>(known)).map(({ number }) => number));
  const ours = readMigrations().map((migration) => migration.number);
  const newer = [...applied].filter((number) => !ours.includes(number));
  if (newer.length > 0) {
    const finding = problem(
      "schema",
      `the database has migrations that this version does not know: ${newer.join(", ")}`,
      "Install the newer Tuntas.",
    );
    return { finding, ready: false };
  }
  const missing = ours.filter((number) => !applied.has(number));
  const text =
    missing.length === 0 ? "up to date" : `${missing.length} migrations behind; the next start runs them`;
  return { finding: ok("schema", text), ready: missing.length === 0 };
}

const undeclared = statement(
  `(select 'queues' as kind, name from tuntas.queue q where owner is null
     and not exists (select from tuntas.queue s where s.account = q.account and s.region = q.region and s.dead_letter_name = q.name and s.owner is not null)
   order by name limit 20)
   union all (select 'schedules', name from tuntas.schedule where owner is null order by name limit 20)
   union all (select distinct 'endpoints', target_name from tuntas.outbox where target_kind = 'http'
     and not exists (select from tuntas.endpoint e where e.name = target_name) order by 2 limit 20)`,
);

const owners: Check = async (database) => {
  const rows = await database.run<{ kind: string; name: string }>(undeclared);
  const named = ["queues", "schedules", "endpoints"].flatMap((kind) => {
    const names = rows.filter((row) => row.kind === kind).map(({ name }) => name);
    return names.length === 0 ? [] : `${kind} without an owner (not declared in code): ${names.join(", ")}`;
  });
  return named.length === 0
    ? ok("owners", "every queue, every schedule and every endpoint has an owner")
    : warning(
        "owners",
        named.join("; "),
        "Declare them: queue(name, { deadLetter: { owner, runbook, … } }), schedule(name, { owner, runbook, … }), endpoint(name, { owner, runbook, … }).",
      );
};

const orphaned = statement(
  `select coalesce(s.name, '(deleted)') as name, count(*)::float8 as count
   from tuntas.queue d join tuntas.ready r on r.queue_id = d.id and r.source_queue_id is not null
     left join tuntas.queue s on s.id = r.source_queue_id
   where coalesce(s.owner, d.owner) is null and d.id <> r.source_queue_id group by 1 order by 2 desc limit 20`,
);

const deadLetters: Check = async (database) => {
  const rows = await database.run<{ name: string; count: number }>(orphaned);
  return rows.length === 0
    ? ok("dead letters", "no dead letter is without an owner")
    : warning(
        "dead letters",
        `dead letters that nobody answers for: ${rows.map((row) => `${row.count} of ${row.name}`).join(", ")}`,
        "See them with: tuntas dlq list. Declare an owner and a runbook for these queues.",
      );
};

const unserved = statement(
  `select s.name || ' ' || k.name as name from tuntas.stream_consumer k join tuntas.stream s on s.id = k.stream_id
   where not exists (select from tuntas.stream_member m where m.consumer_id = k.id) and exists (
     select from tuntas.stream_checkpoint c join tuntas.stream_partition p on p.stream_id = c.stream_id and p.partition = c.partition
     where c.consumer_id = k.id and c.next_offset < p.next_offset)
   order by 1 limit 20`,
);

const consumers: Check = async (database) => {
  const names = (await database.run<{ name: string }>(unserved)).map((row) => row.name);
  return names.length === 0
    ? ok("consumers", "every consumer of a stream has read all, or is being served")
    : warning(
        "consumers",
        `consumers of streams that no process serves: ${names.join(", ")}; records are kept for them beyond their retention`,
        "Start the application that declares them, or: tuntas stream forget STREAM CONSUMER.",
      );
};

export const contentChecks: readonly Check[] = [owners, deadLetters, consumers];

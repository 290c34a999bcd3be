// The heartbeat thread. It has a connection of its own and nothing else to do, so no handler can keep it from beating.
// It beats for the process, asks what the rooms want to know, and looks for the dead, all in one statement a second.
// For an event loop that is blocked it gives back what that loop will not get to.
import { parentPort, workerData } from "node:worker_threads";
import "./navigator.ts";
import pg from "pg";
import { isOffering, readPulse, reclaimStuck, viewSlots, voidUpTo, type Stuck } from "./slots.ts";
import type { HeartbeatData, HeartbeatOrder, HeartbeatReport, ThreadTexts } from "./thread.ts";

const data = workerData as HeartbeatData;
const port = parentPort!;
const slots = viewSlots(data.slots);
const report = (message: HeartbeatReport): void => port.postMessage(message);

/** The event loop counts as blocked after this long without a pulse (it pulses five times a second). */
const blockedMs = 3000;
/** After this long nothing more is handed over to it: somebody else would have it sooner. */
const silentMs = 500;
/** How often that is looked at while anything may be handed over. */
const lookMs = 250;

const inSchema = (text: string): string => text.replaceAll(/\btuntas\./g, `${data.schema}.`);
const textOf = (name: keyof ThreadTexts): string => inSchema(data.texts[name]);

const lockName = `hashtextextended('tuntas process ${data.schema} ' || $1, 0)`;

/**
 * A lock that is free tells of a death only where its owner could have come back for it: after a restart of the server, or
 * a failure of the network, all locks are free at once. Who has just lost his own believes the leases alone for so long, and
 * so does who meets a server that has just begun to run, of those who have not had their locks from this run. Where it has run
 * for long and they have theirs from elsewhere, they are on their way here from a server that failed.
 */
const graceMs = 5000;
const longMs = 60_000;

const isTold = `case when p.locked_on = r.run then true
    else r.began < pg_catalog.now() - interval '${graceMs} ms' and (p.locked_on is null or r.began > pg_catalog.now() - interval '${longMs} ms') end`;

/**
 * Deaths come in groups: a machine goes, or whoever was taking over is killed as well. For so long after one it is looked
 * for more often, lest each costs a whole interval more.
 */
const alert = { forMs: 5000, intervalMs: 250 };

// It beats in the session that has the lock. Two checkers may meet on one dead process's lock; the loser sees it as alive for one round.
const beatText = inSchema(`with server as materialized (select run, began from tuntas.server_run()), beat as (
    update tuntas.process set heartbeat_at = tuntas.now(), expires_at = tuntas.now() + make_interval(secs => $2),
      locked_on = (select run from server)
    where id = $1 returning id
  )
  select (select count(*)::int from beat) as alive,
    array(select p.id::text from tuntas.process p, server r where p.id <> $1
      and (p.expires_at < tuntas.now() or ($3 and p.lock_key is not null
        and case when ${isTold} then pg_try_advisory_xact_lock(p.lock_key) end))) as dead
      ${data.agendaColumns}`);

/** What the rooms' columns are to be given, as the process last told it. */
let given = data.given;

async function connect(onCut: () => void): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: data.url,
    application_name: "tuntas heartbeat",
    keepAlive: true,
    connectionTimeoutMillis: 5000,
    query_timeout: 10_000,
    // The beat is the longest statement that there is: planned anew for its first five times, as is the default, they
    // cost more than the next hundred. It is planned once, perhaps on empty tables, and stays with what they grow to.
    ...(!data.pooled && {
      options: "-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c jit=off",
    }),
  });
  client.on("error", onCut);
  await client.connect();
  return client;
}

/** Takes the lock that tells of this process's death, and lets go of that of whom it was before. */
async function takeLock(client: pg.Client, processId: string): Promise<void> {
  await client.query("select pg_advisory_unlock_all()");
  // A process that starts may meet a checker that tries the lock at this moment; the checker lets go at its commit.
  await client.query(`select pg_advisory_lock(${lockName})`, [processId]);
  await client.query(
    inSchema(`update tuntas.process set lock_key = ${lockName.replace("$1", "id::text")} where id = $1`),
    [processId],
  );
}

interface Released {
  readonly queueId: number;
  readonly groupId: string | null;
}

/** All that move groups lock them in this order. */
const byQueueAndGroup = (a: Released, b: Released): number =>
  a.queueId - b.queueId || (a.groupId! < b.groupId! ? -1 : 1);

/** Whom the thread beats for; undefined before it is told, and after a loss. */
let self: string | undefined;

/** When it last lost its own lock. */
let lostLockAt = -Infinity;

/** When it last saw that somebody had died. */
let deathSeenAt = -Infinity;

let pulseSeen = readPulse(slots);
let pulseAt = performance.now();

/** Taken out of the event loop's hands, but not yet given back: a lost connection must not lose them. */
let owed: Stuck[] = [];

/** How long the event loop has not been heard of. */
function silentFor(): number {
  const pulse = readPulse(slots);
  if (pulse !== pulseSeen) pulseAt = performance.now();
  pulseSeen = pulse;
  return performance.now() - pulseAt;
}

/** Whether messages may be handed over to an event loop that does not answer. */
const isOfferingInVain = (): boolean => isOffering(slots) && silentFor() >= silentMs;

/** For which silence of the event loop its offers were withdrawn last. */
let withdrawnAt = -1;

/** Has nothing more handed over to the process, and takes back what the event loop has not taken. */
async function withdraw(client: pg.Client, processId: string): Promise<void> {
  await client.query(textOf("withdraw"), [processId]);
  const [{ fence }] = (await client.query(textOf("lastFence"))).rows as [{ fence: string }];
  const known = voidUpTo(slots, fence);
  const { rows } = await client.query(textOf("unknown"), [processId, fence, known]);
  owed = [...owed, ...(rows as Stuck[]).map((claim) => ({ ...claim, begun: false }))];
  withdrawnAt = pulseAt;
  report({ kind: "withdrawn" });
}

async function rescue(client: pg.Client, processId: string): Promise<void> {
  if (isOfferingInVain()) await withdraw(client, processId);
  if (silentFor() >= blockedMs) owed = [...owed, ...reclaimStuck(slots)];
  if (owed.length === 0) return;
  await client.query("begin");
  const { rows } = await client.query(textOf("release"), releaseValues(owed));
  const groups = (rows as Released[]).filter((row) => row.groupId !== null).toSorted(byQueueAndGroup);
  for (const { queueId, groupId } of groups) await client.query(textOf("refresh"), [queueId, [groupId]]);
  await client.query("commit");
  owed = [];
}

function releaseValues(stuck: readonly Stuck[]): unknown[] {
  const failed = <T>(value: T) => stuck.map((item) => (item.begun ? value : null));
  return [
    stuck.map((item) => item.queueId),
    stuck.map((item) => item.id),
    stuck.map((item) => item.fence),
    stuck.map(() => 0),
    failed("retry"),
    failed("TUNTAS_ATTEMPT_TIMEOUT"),
    failed("the attempt passed its timeout while its process's event loop was blocked"),
    failed("TUNTAS_ATTEMPT_TIMEOUT"),
    failed(null),
  ];
}

function lose(reason: string): void {
  self = undefined;
  owed = [];
  report({ kind: "lost", reason });
}

async function round(client: pg.Client, processId: string): Promise<void> {
  const begunAt = performance.now();
  const { rows } = await client.query({
    text: beatText,
    values: [processId, data.leaseMs / 1000, performance.now() - lostLockAt > graceMs, ...given],
    ...(!data.pooled && { name: "tuntas_beat" }),
    rowMode: "array",
  });
  const [alive, dead, ...answers] = rows[0] as unknown as [number, string[], ...unknown[]];
  if (alive === 0) return lose("another process took this one for dead");
  if (dead.length > 0) deathSeenAt = performance.now();
  report({ kind: "beat", tookMs: performance.now() - begunAt, dead, answers });
  await rescue(client, processId);
}

/**
 * A rest that an order cuts short: a timer that is left at the end keeps the thread, and the process that waits for it.
 * Answers whether it was cut.
 */
function makeRest() {
  let over: (() => void) | undefined;
  return {
    cut: () => over?.(),
    take: (ms?: number) =>
      new Promise<boolean>((resolve) => {
        const timer = ms === undefined ? undefined : setTimeout(() => resolve(false), ms);
        over = () => {
          clearTimeout(timer);
          resolve(true);
        };
      }),
  };
}

const rest = makeRest();

/** Rests, but not while messages are handed over to an event loop that has just stopped answering. */
async function restUntil(at: number): Promise<void> {
  for (let leftMs = at - performance.now(); leftMs > 0; leftMs = at - performance.now()) {
    if (await rest.take(isOffering(slots) ? Math.min(leftMs, lookMs) : leftMs)) return;
    if (isOfferingInVain() && withdrawnAt !== pulseAt) return;
  }
}
let closing = false;
let client: pg.Client | undefined;
/** Whose lock the connection holds. */
let locked: string | undefined;
let missedSince: number | undefined;

async function beat(processId: string): Promise<void> {
  client ??= await connect(rest.cut);
  if (locked !== processId) {
    if (!data.pooled) await takeLock(client, processId);
    locked = processId;
    report({ kind: "ready" });
  }
  await round(client, processId);
}

/** Answers how long to rest before the next try. */
async function miss(): Promise<number> {
  await client?.end().catch(() => undefined);
  client = locked = undefined;
  lostLockAt = performance.now();
  // Back at once, before another finds the lock free; who then fails again waits between tries.
  const restMs = missedSince === undefined ? 0 : 250;
  missedSince ??= lostLockAt;
  // Our lease has run out by now, whoever may be to blame: what we hold may be somebody else's.
  if (lostLockAt - missedSince > data.leaseMs)
    lose("the database could not be reached for longer than the lease");
  return restMs;
}

/** A little jitter, so that many processes do not beat in step; never more than one beat an interval. */
function restAfterBeat(): number {
  const isAlert = performance.now() - deathSeenAt < alert.forMs;
  return (isAlert ? alert.intervalMs : data.intervalMs) * (1 + Math.random() * 0.2);
}

async function main(): Promise<void> {
  while (!closing) {
    if (self === undefined) {
      missedSince = undefined;
      await rest.take();
      continue;
    }
    let restMs = restAfterBeat();
    try {
      await beat(self);
      missedSince = undefined;
    } catch {
      restMs = await miss();
    }
    if (!closing && self !== undefined && restMs > 0) await restUntil(performance.now() + restMs);
  }
  await client?.end().catch(() => undefined);
  port.close();
}

port.on("message", (order: HeartbeatOrder) => {
  if (order.kind === "give") return void (given = order.given);
  if (order.kind === "be") self = order.processId;
  else closing = true;
  rest.cut();
});

void main();

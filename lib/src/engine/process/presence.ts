// This process, as the others see it: one row, one heartbeat a second from a thread of its own (a handler that blocks
// the event loop does not stop it), and a session lock whose end tells of our death at once. The same statement looks
// for others that have died and for what is due next, so that an idle process costs one statement a second. Who was
// taken for dead registers again, however long the database stays away.
import { hostname } from "node:os";
import type { Database } from "../../pg/database.ts";
import { statement } from "../../pg/database.ts";
import { agendaColumns, givenNow, type Agendum } from "../agenda.ts";
import type { OnBeat } from "../handler/ease.ts";
import type { Log } from "../log.ts";
import type { SlotTable } from "./slots.ts";
import { startThread, type Hearing, type Thread, type ThreadTexts } from "./thread.ts";

export interface PresenceOptions {
  readonly database: Database;
  readonly name: string;
  readonly slots: SlotTable;
  readonly log: Log;
  /** What the thread asks of the rooms where the event loop is blocked. */
  readonly texts: ThreadTexts;
  /** What the rooms want to know at each beat. */
  readonly agenda: readonly Agendum[];
  readonly onDead: (processIds: string[]) => void;
  /** The thread has withdrawn what was offered, for a blocked event loop. */
  readonly onWithdrawn: () => void;
}

export interface Presence {
  begin(): Promise<void>;
  /** The id under which this process holds what it holds; another one after each loss. */
  processId(): string;
  /** Called when we were taken for dead: nothing that this process holds is its own any more. */
  onLost(handler: () => void): void;
  /**
   * Calls the handler with the milliseconds that the database took for each beat, about once a second, until the function
   * that it answers is called.
   */
  readonly onBeat: OnBeat;
  close(): Promise<void>;
}

/** The beat's own parameters, before those of the agenda. */
const beatParameters = 3;

const heartbeatIntervalMs = 1000;
/** How long a process that the database does not hear of is still believed to live. */
export const leaseMs = 15_000;
const standAgainMs = 500;

const register = statement(
  `insert into tuntas.process (name, host, pid, version, started_at, heartbeat_at, expires_at)
   values ($1, $2, $3, $4, tuntas.now(), tuntas.now(), tuntas.now() + make_interval(secs => $5)) returning id::text`,
);

const unregister = statement(
  `delete from tuntas.process p where id = $1 and not exists (select from tuntas.held where owner_id = $1)
     and not exists (select from tuntas.workflow_call where owner_id = $1)`,
);

type Place = Pick<PresenceOptions, "database" | "name">;

async function registerIn({ database, name }: Place): Promise<string> {
  const values = [name, hostname(), process.pid, process.version, leaseMs / 1000];
  const [row] = await database.run<{ id: string }>(register, values);
  return row!.id;
}

type Asking = Pick<Hearing, "onLost" | "onBroken"> & { readonly onBeat: (tookMs: number) => void };

/** A thread that asks what the rooms want to know, with what they give at the time. */
function startAsking(options: PresenceOptions, { onBeat, ...hearing }: Asking): Thread {
  const { database, slots, agenda, onDead, onWithdrawn } = options;
  const first = givenNow(agenda);
  let known = JSON.stringify(first);
  const thread = startThread(
    {
      url: database.url,
      schema: database.schema,
      pooled: database.pooled,
      intervalMs: heartbeatIntervalMs,
      leaseMs,
      slots: slots.shared,
      texts: options.texts,
      agendaColumns: agendaColumns(agenda, beatParameters),
      given: first,
    },
    {
      ...hearing,
      onWithdrawn,
      onBeat(dead, answers, tookMs) {
        onBeat(tookMs);
        if (dead.length > 0) onDead(dead);
        agenda.forEach(({ hear }, index) => hear(answers[index]));
        renew();
      },
    },
  );
  /** Tells the thread what to ask with at its next beat, where that is no longer what it has. */
  function renew(): void {
    const given = givenNow(agenda);
    const text = JSON.stringify(given);
    if (text === known) return;
    known = text;
    thread.give(given);
  }
  return thread;
}

export function makePresence(options: PresenceOptions): Presence {
  const { database, slots, log, texts } = options;
  const handlers: (() => void)[] = [];
  const hearers = new Set<(tookMs: number) => void>();
  let pulse: NodeJS.Timeout | undefined;
  let thread: Thread | undefined;
  let processId: string | undefined;
  let again: NodeJS.Timeout | undefined;
  let beginning = false;
  let lost = false;
  let closed = false;

  function onLost(reason: string): void {
    lost = true;
    log.warn({ reason }, "this process was taken for dead; what it held belongs to others now");
    for (const handler of handlers) handler();
    if (!beginning) beginAgain();
  }

  function onBroken(reason: string): void {
    thread = undefined;
    onLost(reason);
  }

  async function stand(): Promise<void> {
    lost = false;
    processId = await registerIn(options);
    if (closed) return void (await database.run(unregister, [processId]));
    const onBeat = (tookMs: number) => hearers.forEach((hear) => hear(tookMs));
    thread ??= startAsking(options, { onLost, onBroken, onBeat });
    await thread.be(processId);
  }

  async function begin(): Promise<void> {
    beginning = true;
    await stand().finally(() => (beginning = false));
    if (lost) beginAgain();
  }

  function beginAgain(): void {
    if (closed) return;
    begin().catch((cause: unknown) => {
      log.warn({ cause }, "could not register again; will try again");
      again = setTimeout(beginAgain, standAgainMs);
    });
  }

  return {
    begin() {
      pulse = setInterval(() => slots.pulse(), 200);
      pulse.unref();
      return begin();
    },
    processId: () => processId!,
    onLost: (handler) => void handlers.push(handler),
    onBeat(handler) {
      // One of its own, so that a handler that is given twice is called twice and ended one by one.
      const hear = (tookMs: number) => handler(tookMs);
      hearers.add(hear);
      return () => void hearers.delete(hear);
    },
    async close() {
      closed = true;
      clearTimeout(again);
      clearInterval(pulse);
      await thread?.close();
      if (processId === undefined) return;
      // By itself: what was being handed over is committed then, and the next statement sees it.
      await database.run(statement(texts.withdraw), [processId]).catch(() => undefined);
      await database.run(unregister, [processId]).catch(() => undefined);
    },
  };
}

/** This process, for those who are made before it is present. */
export const selfOf = (presence: () => Presence): Pick<Presence, "processId" | "onBeat"> => ({
  processId: () => presence().processId(),
  onBeat: (handler) => presence().onBeat(handler),
});

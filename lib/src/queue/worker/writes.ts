// Statements that handlers handed over (`ctx.write`): one handler after another, in a commit shared with others. At first
// all go out in one round trip, as if nothing could fail. Where something does, that is undone, and they are run again,
// each under its own savepoint, so that one that fails undoes only its own. Where the whole commit is lost, each handler's
// statements are run again in a transaction of their own, which the fence makes harmless if the commit had taken place.
import type { PoolClient } from "pg";
import { coalescer } from "../../core/coalesce.ts";
import type { Statement } from "../../pg/contract.ts";
import { burst, runBurst, type BurstStatement } from "../../pg/burst.ts";
import { pinPlanner, statement, type Database } from "../../pg/database.ts";
import { inOneWrite } from "../../pg/wire.ts";
import { isConnectionLost, isTransient } from "../../pg/faults.ts";
import type { CommandKey } from "../store/command.ts";
import { commandRecord, recordAll } from "../store/command.ts";
import { loosenClaims } from "../store/settle.ts";
import type { Write } from "../../engine/handler/contract.ts";
import { named, onHandlerClient } from "../../engine/handler/writes.ts";
import { beginning, beginText, committing, forgetLimits } from "../../engine/handler/begin.ts";
import type { EndingClaim, Endings } from "./source.ts";
import type { Ending } from "./transaction.ts";

export interface WriteJob {
  readonly claim: EndingClaim;
  readonly fifo: boolean;
  readonly command: CommandKey | undefined;
  readonly writes: readonly Write[];
  readonly timeoutMs: number;
}

/** How a job ended; `failed` carries why, and nothing of it was written. */
export type WriteEnding = { readonly kind: Ending } | { readonly kind: "failed"; readonly cause: unknown };

// A larger burst makes whoever waits for one of its rows wait longer, and saves little.
const burstJobsMax = 200;

// More than 64 subtransactions in one transaction overflow PostgreSQL's cache of them and slow every other session.
const savepointsMax = 60;

const committed: WriteEnding = { kind: "committed" };
const hasCode = (cause: unknown, code: string): boolean =>
  (cause as { code?: unknown } | undefined)?.code === code;
const isSkipped = (cause: unknown): boolean => hasCode(cause, "25P02");
/** The division by zero with which our own statements refuse. */
const isRaised = (cause: unknown): boolean => hasCode(cause, "22012");
const isLockTimeout = (cause: unknown): boolean => hasCode(cause, "55P03");

const failedBefore = () => new Error("the shared transaction had failed before its commit");
const longestOf = (jobs: readonly WriteJob[]): number => Math.max(...jobs.map((job) => job.timeoutMs));

const savepoint = statement("savepoint job");
const releaseSavepoint = statement("release savepoint job");

/** What a failure means, where it was our own statement that failed. */
function endingOf(cause: unknown, place: "record" | "acknowledgement" | undefined): WriteEnding {
  if (place === "record" && isLockTimeout(cause)) return { kind: "busy" };
  if (place === "record" && isRaised(cause)) return { kind: "duplicate" };
  if (place === "acknowledgement" && isRaised(cause)) return { kind: "lost" };
  return { kind: "failed", cause };
}

/** What the statements of one job came to; absent where they succeeded. */
interface Sent {
  readonly ending?: WriteEnding;
  /** An earlier job's failure made the server skip this one. */
  readonly skipped?: boolean;
}

interface Bound {
  readonly statement: Statement;
  readonly values: readonly unknown[];
}

export function makeWriter(database: Database, endings: Endings) {
  const prepared = ({ statement, values }: Bound): BurstStatement => database.bind(statement, values);

  /** As it comes where something has failed: what a session keeps under its name may be what fails. */
  const nameless = ({ text, values }: Write): BurstStatement => ({
    name: undefined,
    text,
    values,
    rows: undefined,
  });

  /** All jobs in one round trip: all are committed, or it rejects. */
  async function together(jobs: readonly WriteJob[]): Promise<void> {
    const commands = jobs.flatMap((job) => job.command ?? []);
    const inGroups = jobs.filter((job) => job.fifo).map((job) => job.claim);
    const writes = jobs.flatMap((job) => job.writes);
    const timeoutMs = longestOf(jobs);
    const statements: BurstStatement[] = [
      ...(commands.length > 0 ? [prepared(recordAll(commands))] : []),
      ...writes.map((write) => named(database, write)),
      database.bind(pinPlanner),
      prepared(endings.all(jobs.map((job) => job.claim))),
      ...endings.after(inGroups).map(prepared),
      committing(database),
    ];
    await onHandlerClient(database, async (client) => {
      const { statements: begun, committed: keep } = beginning(database, client, timeoutMs);
      forgetLimits(client, writes);
      const command = await runBurst(client, [...begun, ...statements]);
      if (command !== "COMMIT") throw failedBefore();
      keep();
    });
  }

  /** Sends all that the job needs in one round trip. */
  async function send(client: PoolClient, { claim, fifo, command, writes }: WriteJob): Promise<Sent> {
    const record = command ? [prepared(commandRecord(command))] : [];
    const { failure } = await burst(client, [
      database.bind(savepoint),
      ...record,
      // Before the handler's statements: where the fence is lost, they fail with it, unrun.
      prepared(endings.one(claim)),
      ...writes.map(nameless),
      ...(fifo ? endings.after([claim]).map(prepared) : []),
      database.bind(releaseSavepoint),
    ]);
    if (!failure) return {};
    const { at, cause } = failure;
    if (isSkipped(cause)) return { skipped: true };
    if (isConnectionLost(cause)) throw cause;
    const place = at === 1 + record.length ? "acknowledgement" : at === record.length ? "record" : undefined;
    return { ending: endingOf(cause, place) };
  }

  /** Runs the jobs in the open transaction; after a failed one its savepoint is undone and the rest is sent again. */
  async function runJobs(client: PoolClient, jobs: readonly WriteJob[]): Promise<WriteEnding[]> {
    const endings: WriteEnding[] = [];
    while (endings.length < jobs.length) {
      const waiting = jobs.slice(endings.length);
      const sent = await Promise.all(inOneWrite(client, () => waiting.map((job) => send(client, job))));
      for (const { ending, skipped } of sent) {
        if (skipped) break;
        endings.push(ending ?? committed);
        if (ending) {
          await client.query("rollback to savepoint job").catch((cause: unknown) => {
            throw ending.kind === "failed" ? ending.cause : cause;
          });
          break;
        }
      }
    }
    return endings;
  }

  async function transaction(jobs: readonly WriteJob[]): Promise<WriteEnding[]> {
    const bundled = jobs.map((job) => job.claim).filter((claim) => claim.bundled);
    if (bundled.length > 0) await loosenClaims(database, bundled);
    return onHandlerClient(database, async (client) => {
      for (const { writes } of jobs) forgetLimits(client, writes);
      const begun = client.query(beginText(longestOf(jobs)));
      const [endings] = await Promise.all([runJobs(client, jobs), begun]);
      const { command } = await client.query("commit");
      if (command !== "COMMIT") throw failedBefore();
      return endings;
    });
  }

  async function alone(job: WriteJob): Promise<WriteEnding> {
    try {
      return (await transaction([job]))[0]!;
    } catch (cause) {
      return { kind: "failed", cause };
    }
  }

  async function bySavepoints(jobs: readonly WriteJob[]): Promise<WriteEnding[]> {
    try {
      return await transaction(jobs);
    } catch (cause) {
      // One job may have failed the commit of all (a deferred constraint); alone, each answers for itself.
      if (jobs.length === 1 && !isTransient(cause)) return [{ kind: "failed", cause }];
      return Promise.all(jobs.map(alone));
    }
  }

  async function flush(jobs: readonly WriteJob[]): Promise<WriteEnding[]> {
    try {
      if (database.pooled) return await bySavepoints(jobs);
      await together(jobs);
      return jobs.map(() => committed);
    } catch {
      const endings: WriteEnding[] = [];
      for (let next = 0; next < jobs.length; next += savepointsMax)
        endings.push(...(await bySavepoints(jobs.slice(next, next + savepointsMax))));
      return endings;
    }
  }

  return coalescer<WriteJob, WriteEnding>({
    itemsMax: database.pooled ? savepointsMax : burstJobsMax,
    flushesMax: 2,
    flush,
    schedule: setImmediate,
  });
}

export type Writer = ReturnType<typeof makeWriter>;

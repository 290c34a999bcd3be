// The anomalies that every workflow over a database can have, ready to declare. Each says what it compares; how the
// rows of an application are read and mended is handed in.
import type { Sql, Tx } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";
import { resultText } from "../canonical.ts";
import type { EffectRow } from "../effect/contract.ts";
import type { Provider } from "../effect/provider.ts";
import { effectById, settleEffect, unknownEffects } from "../effect/store.ts";
import type { Difference, Reconciliation, ReconciliationOptions, View } from "./contract.ts";
import { reconciliation } from "./declaration.ts";

type Read = (sql: Sql) => Promise<View>;
type Mend = (tx: Tx, difference: Difference) => Promise<void>;

export interface AnomalyOptions extends Pick<ReconciliationOptions, "owner" | "of" | "every"> {
  /** Tells several of one kind apart; the anomaly's own name by default. */
  readonly name?: string;
}

type Declared = AnomalyOptions & Pick<ReconciliationOptions, "source" | "derived" | "judge" | "repair">;

/** Of what the anomaly itself takes nothing else is an option of the reconciliation. */
const declare = (
  anomaly: string,
  invariant: string,
  { name = anomaly, owner, of, every, source, derived, judge, repair }: Declared,
) =>
  reconciliation({
    name,
    anomaly,
    invariant,
    owner,
    of,
    every,
    source,
    derived,
    ...(judge && { judge }),
    ...(repair && { repair }),
  });

const none: Read = () => Promise.resolve(new Map());

/** Of a view that lists only what is wrong: all of it is broken. */
const listed = ({ source }: Difference) => (source === undefined ? ("sound" as const) : ("broken" as const));

/** Approved cases (or accepted commands) whose workflow was never started. */
export const workflowMissing = (
  options: AnomalyOptions & { accepted: Read; executions: Read; start: Mend },
): Reconciliation =>
  declare("workflow_missing", "every accepted command has an execution", {
    ...options,
    source: options.accepted,
    derived: options.executions,
    judge: ({ source, derived }) =>
      source === undefined ? "uncertain" : derived === undefined ? "broken" : "sound",
    repair: options.start,
  });

/** Jobs that are complete while their workflow still waits for the callback. `tokens` has the state of each waiting token: `valid` or not. */
export const callbackLost = (
  options: AnomalyOptions & { completedJobs: Read; tokens: Read; resend: Mend },
): Reconciliation =>
  declare("callback_lost", "no workflow waits for a job that is complete", {
    ...options,
    source: options.completedJobs,
    derived: options.tokens,
    judge: ({ source, derived }) =>
      source === undefined || derived === undefined ? "sound" : derived === "valid" ? "broken" : "uncertain",
    repair: options.resend,
  });

/** Executions that succeeded while the database's status is not final. `final` says which status an execution calls for. */
export const statusStale = (
  options: AnomalyOptions & { succeeded: Read; statuses: Read; transition: Mend },
): Reconciliation =>
  declare("status_stale", "a succeeded execution has its final status in the database", {
    ...options,
    source: options.succeeded,
    derived: options.statuses,
    judge: ({ source, derived }) =>
      source === undefined || source === derived ? "sound" : derived === undefined ? "uncertain" : "broken",
    repair: options.transition,
  });

const stuckRows = statement(
  `select id::text as key, target_kind || ':' || target_name || case when parked_at is null then ' waiting' else ' parked' end as text from tuntas.outbox
   where created_at <= tuntas.now() - make_interval(secs => $1::float8) order by id limit 1000`,
);

const unstick = statement(
  `update tuntas.outbox set parked_at = null, refusals = 0, failure_code = null, failure_message = null, due_at = tuntas.now(),
     claimed_by = null, claimed_until = null, fence = null where id = $1`,
);

const wakeRelays = statement(`select pg_notify('tuntas.outbox', '')`);

/** Outbox rows that wait too long: reclaimed, and published by the next relay. */
export const outboxStuck = (options: AnomalyOptions & { olderMs: number }): Reconciliation =>
  declare("outbox_stuck", "no outbox row waits longer than its alarm threshold", {
    ...options,
    source: async (sql) => textByKey(await sql.run<KeyText>(stuckRows, [options.olderMs / 1000])),
    derived: none,
    judge: listed,
    repair: async (tx, { key }) => {
      await tx.run(unstick, [key]);
      await tx.run(wakeRelays);
    },
  });

const lapsedReservations = statement(
  `select id::text as key, kind || ' ' || resource || ' held by ' || holder as text from tuntas.reservation
   where kind = $1 and (state = 'expired' or (state = 'reserved' and expires_at <= tuntas.now())) order by expires_at limit 1000`,
);

const release = statement(
  `update tuntas.reservation set state = 'expired', expired_at = tuntas.now() where id = $1 and state = 'reserved' and expires_at <= tuntas.now()`,
);

/** Expired reservations on which a case still builds. `dependants` has what still counts on a reservation, by its id. */
export const reservationLapsed = (
  options: AnomalyOptions & { kind: string; dependants: Read; resolve: Mend },
): Reconciliation =>
  declare("reservation_lapsed", "nothing builds on an expired reservation", {
    ...options,
    source: async (sql) => textByKey(await sql.run<KeyText>(lapsedReservations, [options.kind])),
    derived: options.dependants,
    judge: ({ source, derived }) => (source === undefined || derived === undefined ? "sound" : "broken"),
    repair: async (tx, difference) => {
      await tx.run(release, [difference.key]);
      await options.resolve(tx, difference);
    },
  });

/** What the provider's own list says of calls that the ledger does not know the end of: `response` and `reference`, by the call's key. */
export type ProviderReport = (
  sql: Sql,
) => Promise<ReadonlyMap<string, { readonly response: unknown; readonly reference: string }>>;

/** Calls that succeeded at the provider while the ledger calls them unknown. */
export function effectUnrecorded(
  options: AnomalyOptions & { provider: Provider; operation: string; report: ProviderReport },
): Reconciliation {
  const { provider, operation, report } = options;
  const unknown = async (sql: Sql): Promise<EffectRow[]> =>
    (await unknownEffects(sql, { provider: provider.options.name })).filter(
      (row) => row.operation === operation,
    );
  return declare("effect_unrecorded", "the ledger knows the end of every call that the provider made", {
    ...options,
    source: async (sql) => {
      const [rows, known] = [await unknown(sql), await report(sql)];
      return new Map(
        rows.map((row) => [
          row.id,
          known.has(row.key) ? resultText(known.get(row.key)) : "the provider does not list it",
        ]),
      );
    },
    derived: none,
    // What the provider does not list may still be on its way there: a person decides.
    judge: ({ source }) => (source === undefined ? "sound" : source.startsWith("{") ? "broken" : "uncertain"),
    repair: async (tx, { key: id, source }) => {
      const { response, reference } = JSON.parse(source!) as { response: unknown; reference: string };
      const row = await effectById(tx, id);
      if (row)
        await settleEffect(tx, row, {
          state: "succeeded",
          response: resultText(response),
          reference,
          by: "reconciliation",
        });
    },
  });
}

interface KeyText extends Record<string, string> {
  readonly key: string;
  readonly text: string;
}

const textByKey = (rows: readonly KeyText[]): View => new Map(rows.map((row) => [row.key, row.text]));

// What a person does to the ledger: settle a call that nobody knows the end of, give a reservation or a lease back. Every
// act says who and why, and leaves a row of the record in its own transaction.
import { writeAudit } from "../engine/audit.ts";
import type { Sql, Tx } from "../pg/contract.ts";
import { checkKey } from "./canonical.ts";
import { ledgerErrors } from "./contract.ts";
import type { EffectRow, Finding } from "./effect/contract.ts";
import type { Provider } from "./effect/provider.ts";
import { askProvider, settleAs } from "./effect/reconcile.ts";
import { effectById } from "./effect/store.ts";
import type { LeaseRow } from "./lease/store.ts";
import { freeLease } from "./lease/store.ts";
import { release } from "./reservation/reservation.ts";
import type { MoveAnswer } from "./reservation/contract.ts";

export interface Act {
  readonly by: string;
  readonly reason: string;
}

type Details = Readonly<Record<string, unknown>>;

interface Recorded<T> extends Act {
  readonly action: string;
  readonly subject: string;
  readonly work: (tx: Tx) => Promise<T>;
  /** What the record keeps of what was done: names and states, no bodies. */
  readonly details: (done: T) => Details;
}

/** Does it in one transaction with its row of the record. */
export async function onRecord<T>(sql: Sql, recorded: Recorded<T>): Promise<T> {
  const { by, reason, action, subject, work, details } = recorded;
  checkKey("by", by);
  checkKey("reason", reason);
  return sql.transaction(async (tx) => {
    const done = await work(tx);
    await writeAudit(tx, { actor: by, action, subject, reason, details: details(done) });
    return done;
  });
}

const namesOf = ({ provider, operation, key, state, reference }: EffectRow): Details => ({
  provider,
  operation,
  key,
  state,
  reference,
});

const notUnknown = (id: string, state: string, finding: string) =>
  ledgerErrors.error(
    "TUNTAS_EFFECT_CONFLICT",
    `side effect ${id}: expected an unknown call and a finding, got ${state} and ${finding}`,
  );

async function standingEffect(sql: Pick<Sql, "run">, id: string, finding: string): Promise<EffectRow> {
  const row = await effectById(sql, id);
  if (row && (row.state === "unknown" || row.overdue)) return row;
  throw notUnknown(id, row?.state ?? "no row", finding);
}

/** A person's word on an unknown call, with who says so and why. Errors: TUNTAS_EFFECT_CONFLICT where it is not unknown. */
export const settleByHand = (
  sql: Sql,
  id: string,
  { finding, by, reason }: Act & { readonly finding: Finding },
): Promise<EffectRow> =>
  onRecord(sql, {
    by,
    reason,
    action: "effect.settle",
    subject: `effect ${id}`,
    details: namesOf,
    async work(tx) {
      const row = await standingEffect(tx, id, finding.state);
      const settled = await settleAs(tx, row, { finding, by: `${by}: ${reason}` });
      if (settled) return settled;
      throw notUnknown(id, row.state, finding.state);
    },
  });

export interface Asked {
  /** `unknown`: the provider could not say, or it is too early to believe that the call never arrived. */
  readonly status: "settled" | "unknown";
  readonly row: EffectRow;
}

/** Has the provider asked about one unknown call, at a person's word. Errors: TUNTAS_EFFECT_CONFLICT. */
export async function askByHand(
  sql: Sql,
  provider: Provider,
  id: string,
  { by, reason }: Act,
): Promise<Asked> {
  const row = await standingEffect(sql, id, "a question to the provider");
  const settled = await askProvider(sql, provider, row);
  const answer: Asked = settled ? { status: "settled", row: settled } : { status: "unknown", row };
  const details = { ...namesOf(answer.row), status: answer.status };
  await writeAudit(sql, { actor: by, action: "effect.ask", subject: `effect ${id}`, reason, details });
  return answer;
}

/** Gives a reservation back. Errors: TUNTAS_RESERVATION_STATE where it is confirmed, TUNTAS_RESERVATION_MISSING. */
export const releaseByHand = (sql: Sql, id: string, act: Act): Promise<MoveAnswer> =>
  onRecord(sql, {
    ...act,
    action: "reservation.release",
    subject: `reservation ${id}`,
    work: (tx) => release(tx, id),
    details: ({ status, reservation }) => ({ status, ...reservation }),
  });

/** Takes a job from its holder, which learns of it at its next heartbeat. Errors: TUNTAS_LEASE_STATE. */
export const freeByHand = (sql: Sql, name: string, act: Act): Promise<LeaseRow> =>
  onRecord(sql, {
    ...act,
    action: "lease.free",
    subject: `lease ${name}`,
    details: ({ owner, takeovers }) => ({ owner, takeovers }),
    async work(tx) {
      const freed = await freeLease(tx, name);
      if (freed) return freed;
      throw ledgerErrors.error(
        "TUNTAS_LEASE_STATE",
        `lease ${name}: expected one that somebody holds, got none`,
      );
    },
  });

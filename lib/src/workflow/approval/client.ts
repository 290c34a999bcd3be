// The asking side of approvals: what waits for whom, and every act upon it.
import { isStorable } from "../../core/text.ts";
import { writeAudit } from "../../engine/audit.ts";
import { makeDueClock, type DueClock } from "../../engine/due.ts";
import type { Target } from "../../engine/target.ts";
import type { Sql, Tx } from "../../pg/contract.ts";
import { join, type Runner } from "../../pg/join.ts";
import { hashToken } from "../token.ts";
import { approvalCallback, type CallbackOptions } from "./callback.ts";
import type {
  Act,
  Approval,
  DecideAnswer,
  DecidedHook,
  Decision,
  InboxItem,
  ListOptions,
  Person,
} from "./contract.ts";
import { approvalErrors } from "./contract.ts";
import { assertMaySign, decideIn, isId, mustLock, refuse, type Deciding } from "./decide.ts";
import { announceEnd, endRequest } from "./ending.ts";
import { approvalSignals } from "./signals.ts";
import { standingOf } from "./state.ts";
import { awaitedAmong, findApproval, insertDelegate, listApprovals, type Kept } from "./store.ts";
import { announceEscalation, escalateRequest, moveDueApprovals } from "./sweep.ts";

export interface Approvals {
  /** Requests, those that are due first at the top. */
  list(options?: ListOptions): Promise<InboxItem[]>;
  show(id: string, person?: Person): Promise<InboxItem | undefined>;
  /**
   * Signs a request for one person. With the last signature the application's hook, the end of the request and the
   * announcement that resumes the execution are in one commit. Errors: TUNTAS_APPROVAL_OVER, _OWN, _DENIED, _SIGNED,
   * _LATE, _ELSEWHERE, _MISSING, _INVALID, and whatever the hook throws.
   */
  decide(id: string, decision: Decision): Promise<DecideAnswer>;
  /** Lets those decide now to whom it would be escalated later. Errors: TUNTAS_APPROVAL_OVER, _INVALID, _MISSING. */
  escalate(id: string, act: Act): Promise<Approval>;
  /** Gives one's right to sign to another person. Errors: as of `decide`. */
  delegate(id: string, act: Act & { readonly to: string }): Promise<Approval>;
  /** Ends a request without a decision; the task fails by ApprovalWithdrawn. Errors: TUNTAS_APPROVAL_OVER, _MISSING. */
  withdraw(id: string, act: Act & { readonly tx?: Decision["tx"] }): Promise<Approval>;
  /** Whether this process can take the decision: one that the application has a part in takes the application. */
  isDecidedHere(of: Pick<Approval, "workflow" | "task" | "guarded">): boolean;
  /** What the application does with decisions of that task in this process. Answers what ends that. */
  bind(of: { readonly workflow: string; readonly task: string }, hook: DecidedHook): () => void;
}

/** What the platform makes of the room. */
export interface ApprovalRoom {
  readonly approvals: Approvals;
  readonly due: DueClock;
  readonly callback: Target;
}

const checkText = (name: string, value: unknown): void => {
  if (typeof value === "string" && value.trim() !== "" && value.length <= 2000 && isStorable(value)) return;
  throw approvalErrors.error("TUNTAS_APPROVAL_INVALID", `${name}: expected a few words, got none`);
};

function checkAct({ by, reason }: Act): void {
  checkText("by.name", by?.name);
  checkText("reason", reason);
}

function checkDecision(given: Decision): void {
  checkAct(given);
  if (given.decision === "approve" || given.decision === "reject") return;
  const came = JSON.stringify(given.decision);
  throw approvalErrors.error("TUNTAS_APPROVAL_INVALID", `decision: expected approve or reject, got ${came}`);
}

export function makeApprovals(
  options: Omit<CallbackOptions, "database"> & {
    readonly database: Sql;
    readonly onError: (cause: unknown) => void;
  },
): ApprovalRoom {
  const { database, tokenOf, onError } = options;
  const hooks = new Map<string, DecidedHook>();
  const slot = (workflow: string, task: string): string => JSON.stringify([workflow, task]);
  const hashOf = (reference: string): Buffer => hashToken(tokenOf(reference));

  /** Says of pending requests whether their executions still wait. */
  async function withWaits(sql: Runner, kept: readonly Kept[]): Promise<Approval[]> {
    const pending = kept.filter(({ approval }) => approval.status === "pending");
    if (pending.length === 0) return kept.map(({ approval }) => approval);
    const awaited = await awaitedAmong(
      sql,
      pending.map(({ tokenReference: reference }) => ({ hash: hashOf(reference), reference })),
    );
    return kept.map(({ approval, tokenReference }) => ({
      ...approval,
      waiting: approval.waiting && awaited.has(tokenReference),
    }));
  }

  const seenBy =
    (person: Person | undefined) =>
    (approval: Approval): InboxItem => ({
      ...approval,
      standing: person && standingOf(approval, person),
    });

  const inTx = <T>(
    tx: Decision["tx"],
    work: (runner: Runner, own: Tx | undefined) => Promise<T>,
  ): Promise<T> => (tx ? work(join(tx), undefined) : database.transaction((own) => work(own, own)));

  /** An act upon a pending request, on its locked row. */
  const actOn = <T>(id: string, tx: Decision["tx"], work: (runner: Runner, kept: Kept) => Promise<T>) =>
    inTx(tx, async (runner) => {
      const kept = await mustLock(runner, id);
      if (kept.approval.status !== "pending")
        throw refuse(
          kept.approval,
          "TUNTAS_APPROVAL_OVER",
          `expected a pending request, got ${kept.approval.status}`,
        );
      return work(runner, kept);
    });

  async function decide(id: string, given: Decision): Promise<DecideAnswer> {
    checkDecision(given);
    const answer = await inTx(given.tx, (runner, own) => {
      const deciding: Deciding = {
        runner,
        client: own?.client ?? given.tx!,
        hashOf,
        hookOf: ({ workflow, task }) => hooks.get(slot(workflow, task)),
      };
      return decideIn(deciding, id, given);
    });
    const { workflow, task, status } = answer.approval;
    if (answer.status === "duplicate") return answer;
    approvalSignals.publish("approval.signed", { id, workflow, task, decision: given.decision });
    if (answer.status === "decided") announceEnd(answer.approval, status as "approved" | "rejected");
    return answer;
  }

  const found = async (sql: Runner, id: string): Promise<Approval> =>
    (await withWaits(sql, [(await findApproval(sql, id))!]))[0]!;

  async function delegate(id: string, { by, to, reason }: Act & { readonly to: string }): Promise<Approval> {
    checkAct({ by, reason });
    checkText("to", to);
    return actOn(id, undefined, async (runner, kept) => {
      const { approval } = kept;
      assertMaySign(kept, by);
      if (to === approval.requestedBy)
        throw refuse(approval, "TUNTAS_APPROVAL_OWN", `expected somebody else than who asked, got ${to}`);
      const taken = [by.name, ...approval.signatures.map(({ name }) => name)];
      if (taken.includes(to) || approval.deciders.some(({ insteadOf }) => insteadOf === to))
        throw refuse(approval, "TUNTAS_APPROVAL_SIGNED", `expected somebody who can still sign, got ${to}`);
      await insertDelegate(runner, id, { from: by.name, to });
      const details = { about: approval.subject, to };
      await writeAudit(runner, { actor: by.name, action: "approval.delegate", subject: id, reason, details });
      return found(runner, id);
    });
  }

  async function escalate(id: string, act: Act): Promise<Approval> {
    checkAct(act);
    const { before, after } = await actOn(id, undefined, async (runner, kept) => {
      const before = kept.approval;
      if (!before.deciders.some(({ via }) => via === "escalation"))
        throw approvalErrors.error("TUNTAS_APPROVAL_INVALID", `approval ${id} has nobody to be escalated to`);
      if (before.escalatedAtMs === null)
        await escalateRequest(runner, kept, { by: act.by.name, reason: act.reason });
      return { before, after: await found(runner, id) };
    });
    if (before.escalatedAtMs === null) announceEscalation(before);
    return after;
  }

  async function withdraw(
    id: string,
    { tx, ...act }: Act & { readonly tx?: Decision["tx"] },
  ): Promise<Approval> {
    checkAct(act);
    const approval = await actOn(id, tx, async (runner, kept) => {
      await endRequest(runner, kept, { status: "withdrawn", by: act.by.name, reason: act.reason });
      return found(runner, id);
    });
    announceEnd(approval, "withdrawn");
    return approval;
  }

  const approvals: Approvals = {
    decide,
    delegate,
    escalate,
    withdraw,
    async list(given = {}) {
      const all = (await withWaits(database, await listApprovals(database, given))).map(seenBy(given.for));
      return given.for ? all.filter(({ waiting }) => waiting) : all;
    },
    async show(id, person) {
      const kept = isId(id) ? await findApproval(database, id) : undefined;
      return kept && (await withWaits(database, [kept])).map(seenBy(person))[0];
    },
    isDecidedHere: ({ workflow, task, guarded }) => !guarded || hooks.has(slot(workflow, task)),
    bind({ workflow, task }, hook) {
      hooks.set(slot(workflow, task), hook);
      return () => void hooks.delete(slot(workflow, task));
    },
  };
  return {
    approvals,
    due: makeDueClock({ move: () => moveDueApprovals(database), onError }),
    callback: approvalCallback(options),
  };
}

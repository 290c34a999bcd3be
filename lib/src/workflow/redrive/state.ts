// What the facts mean for a redrive. Pure.
import { historyFullCause } from "../../asl/index.ts";
import type { DomainView, EffectFact, Facts, Finding, Subject, Verdict } from "./contract.ts";

const safe = (about: Subject, message: string): Finding => ({ verdict: "safe", about, message });
const first = (about: Subject, message: string, remedy: string): Finding => ({
  verdict: "reconcile first",
  about,
  message,
  remedy,
});
const never = (about: Subject, message: string, remedy: string): Finding => ({
  verdict: "forbidden",
  about,
  message,
  remedy,
  binding: true,
});

function ofExecution({ execution: { status, type, cause }, halted }: Facts): Finding[] {
  if (type === "EXPRESS")
    return [never("execution", "an Express execution cannot be redriven", "start it anew")];
  if (status === "RUNNING") return [never("execution", "it still runs", "wait, or stop it first")];
  if (status === "SUCCEEDED") return [never("execution", "it succeeded", "there is nothing to redrive")];
  if (cause === historyFullCause)
    return [never("execution", "it has used up its history", "start it anew, or with what is left to do")];
  return halted.map(({ state, attempts, atTask }) =>
    safe("execution", `goes on at ${state} (attempt ${attempts + 1}${atTask ? ", with a new token" : ""})`),
  );
}

function ofDomain({ domain, halted }: Facts, view: DomainView | undefined): Finding[] {
  if (domain.known === "none declared") return [];
  if (domain.known === "not read here")
    return [
      first(
        "domain",
        "its row was not looked at",
        "inspect where its application runs, or name it with --app",
      ),
    ];
  const { key, row } = domain;
  if (!row) return [first("domain", `there is no row ${key}`, "find out who removed it, or leave it failed")];
  const { status } = row;
  if (view?.final?.includes(status))
    return [never("domain", `${key} is ${status}, which is final`, "leave the execution as it is")];
  const strange = halted.filter(({ state }) => view?.statuses?.[state]?.includes(status) === false);
  if (strange.length === 0) return [safe("domain", `${key} is ${status}`)];
  return strange.map(({ state }) => {
    const expected = view!.statuses![state]!.join(" or ");
    return first(
      "domain",
      `${key} is ${status}; ${state} expects ${expected}`,
      "repair the row, or see why it moved",
    );
  });
}

function ofEffect({ id, provider, operation, key, state, final, overdue, reference }: EffectFact): Finding {
  const name = `${provider} ${operation} ${key}`;
  if (state === "succeeded")
    return safe(
      "side effect",
      `${name} succeeded (${reference ?? "no reference"}): its result is given again`,
    );
  if (state === "failed")
    return final
      ? first(
          "side effect",
          `${name} was refused for good`,
          "a redrive meets the same refusal; mend its cause",
        )
      : safe("side effect", `${name} failed without effect: it is called again`);
  if (state === "pending" && !overdue)
    return {
      ...first("side effect", `${name} may be under way`, "wait until it is answered or unknown"),
      binding: true,
    };
  const remedy = `ask the provider, then \`tuntas effect settle ${id}\``;
  return { ...first("side effect", `nobody knows what became of ${name}`, remedy), binding: true };
}

function ofReservations({ reservations }: Facts): Finding[] {
  const active = reservations.filter(({ state }) => state === "reserved" || state === "confirmed");
  const holds = new Set(active.map(({ kind }) => kind));
  const lost = reservations.filter(
    ({ kind, state }) => !holds.has(kind) && (state === "expired" || state === "released"),
  );
  return [
    ...active.map(({ kind, resource, state }) => safe("reservation", `${kind} ${resource} is ${state}`)),
    ...lost.map(({ kind, resource, state }) =>
      first("reservation", `${kind} ${resource} is ${state}`, "reserve anew before a step confirms it"),
    ),
  ];
}

function ofOutbox({ outbox }: Facts): Finding[] {
  return outbox.flatMap(({ id, target, type, state, failure }) => {
    const name = `${type ?? "announcement"} ${id} to ${target}`;
    if (state === "parked")
      return [
        first("outbox", `${name} is parked: ${failure}`, "mend its cause and put it back: `tuntas outbox`"),
      ];
    return state === "waiting" ? [safe("outbox", `${name} is still to be published`)] : [];
  });
}

function ofApprovals({ approvals }: Facts): Finding[] {
  return approvals.flatMap(({ id, subject, status, toldAtMs }) => {
    const name = `approval ${id} of ${subject}`;
    if (status === "pending")
      return [safe("approval", `${name} is void with its task: the redrive asks anew`)];
    if (toldAtMs === null)
      return [
        first(
          "approval",
          `${name} is ${status}, and the execution was not told`,
          "let the outbox deliver it first",
        ),
      ];
    return [safe("approval", `${name} was ${status}`)];
  });
}

const order: readonly Verdict[] = ["safe", "reconcile first", "forbidden"];

/** The worst of the findings decides. */
export const verdictOf = (findings: readonly Finding[]): Verdict =>
  order[Math.max(0, ...findings.map(({ verdict }) => order.indexOf(verdict)))]!;

export function judge(facts: Facts, view: DomainView | undefined): { verdict: Verdict; findings: Finding[] } {
  const findings = [
    ...ofExecution(facts),
    ...ofDomain(facts, view),
    ...facts.effects.map(ofEffect),
    ...ofReservations(facts),
    ...ofOutbox(facts),
    ...ofApprovals(facts),
  ];
  return { verdict: verdictOf(findings), findings };
}

/** What stands against a redrive that an operator has decided upon. */
export const obstacles = (findings: readonly Finding[], reconciled: boolean): Finding[] =>
  findings.filter(({ verdict, binding }) => verdict !== "safe" && (binding === true || !reconciled));

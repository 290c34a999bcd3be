// What is asked before a run and kept after it, and what may be said to a run. Pure.
import type { Answered, Checked, CommandReport, CommandRun } from "./contract.ts";
import { wordsOf } from "./arguments.ts";

const minutes = (ms: number): string =>
  ms >= 60_000 ? `${Math.round(ms / 6000) / 10} min` : `${ms / 1000} s`;

const programOf = ({ policy: { program } }: CommandReport): string =>
  program === null ? "" : `${program.words.join(" ")} of ${program.service}: `;

export const lineOf = (run: Pick<CommandRun, "command" | "arguments" | "dryRun">): string =>
  [run.command, ...wordsOf(run.arguments, run.dryRun)].join(" ");

function approverOf(run: CommandRun, { policy: { destructive } }: CommandReport): string | null {
  if (run.decidedBy !== null) return run.decidedBy;
  if (run.dryRun || !destructive) return "nobody: it does not take another person";
  return run.approver;
}

/** The latest dry run with the same arguments and digest that went well. */
export type Rehearsal = { readonly id: string } | undefined;

function rehearsalOf(run: CommandRun, rehearsal: Rehearsal, { policy }: CommandReport): string | null {
  if (run.dryRun) return "this is one";
  if (rehearsal) return `run ${rehearsal.id}`;
  return policy.destructive ? null : "none was made";
}

/** The ten questions before a run. */
export function questionsOf(run: CommandRun, report: CommandReport, rehearsal: Rehearsal): Answered[] {
  const { policy, digest } = report;
  return [
    { question: "What exact data scope?", answer: `${policy.scope}: ${JSON.stringify(run.arguments)}` },
    { question: "Is there a dry run?", answer: rehearsalOf(run, rehearsal, report) },
    { question: "What role?", answer: policy.databaseRole },
    {
      question: "What digest?",
      answer:
        run.digest === digest ? [digest, policy.program?.digest].filter(Boolean).join(", program ") : null,
    },
    { question: "What command?", answer: `${programOf(report)}${lineOf(run)}` },
    { question: "What rollback or compensation?", answer: policy.rollback },
    { question: "Who approves?", answer: approverOf(run, report) },
    { question: "What proves success?", answer: policy.measure },
    { question: "What is the maximum runtime?", answer: minutes(run.timeoutMs) },
    { question: "What happens if it runs twice?", answer: policy.twice },
  ];
}

function invariantText(invariant: CommandRun["invariant"]): string | null {
  if (invariant === null || typeof invariant === "string") return invariant;
  return invariant.length === 0 ? "holds" : `broken: ${invariant.join("; ")}`;
}

/** The seven records after a run. */
export const recordsOf = (run: CommandRun): Answered[] => [
  { question: "Run", answer: run.id },
  { question: "Command and input", answer: lineOf(run) },
  { question: "Digest", answer: run.digest },
  { question: "Exit code", answer: run.result && `${run.result.exitCode}: ${run.result.status}` },
  { question: "Output report", answer: run.result && (run.result.outputLocation ?? "nothing was made") },
  { question: "Domain invariant", answer: invariantText(run.invariant) },
  { question: "Evidence", answer: run.evidence },
];

export const missingOf = (form: readonly Answered[]): string[] =>
  form.filter(({ answer }) => answer === null).map(({ question }) => question);

/** What was found out about a command; a text says what is wrong. */
export interface Looked {
  readonly role: string | null;
  readonly released: string | null;
}

/** The ten things that a command is ready by. What its declaration cannot leave out is there. */
export function checklistOf({ digest, policy }: CommandReport, { role, released }: Looked): Checked[] {
  const { program, destructive, timeoutMs, rollback } = policy;
  const takes = Object.keys(policy.arguments).join(", ") || "nothing";
  const approval = destructive ? "destructive: a dry run and the named person" : "not destructive: nobody's";
  const list: readonly (readonly [item: string, because: string, wrong?: string | null])[] = [
    ["The command is kept in code", "declared; whatever is not is refused"],
    ["The digest is pinned", program?.digest ?? digest, released],
    ["The role is scoped", policy.databaseRole, role],
    ["Input parameters are recorded", `takes ${takes}`],
    ["There is a dry run", "by default: nothing that its handler writes stays"],
    ["Output and audit are kept", "the run has both"],
    ["There is a timeout", minutes(timeoutMs)],
    ["Destructive ones are approved", approval],
    ["There is a plan to undo it", rollback],
    ["The result is seen", "`tuntas command show RUN`, and the console's operations"],
  ];
  return list.map(([item, because, wrong = null]) => ({
    item,
    ok: wrong === null,
    because: wrong ?? because,
  }));
}

/** The name under which the engine of operations carries out the runs of a command. */
export const kindOf = (command: string): string => `command ${command}`;
export const isCommandKind = (kind: string): boolean => kind.startsWith("command ");

// A run of a one-off command, for a person.
import type { Answered, CommandRun, RunForm } from "tuntas/operation";
import type { Answer } from "../../command.ts";
import { bold, facts, instant, table } from "../../render.ts";
import { resultLine } from "../../result.ts";

export const lineText = ({ command, arguments: given, dryRun }: CommandRun): string =>
  [command, ...Object.entries(given).map(([name, value]) => `${name}=${value}`), dryRun ? "(dry run)" : ""]
    .join(" ")
    .trim();

const formText = (form: readonly Answered[]): string =>
  form
    .map(({ question, answer }) => `${answer === null ? "-" : "+"} ${question} ${answer ?? "missing"}`)
    .join("\n");

const resultText = ({ result }: CommandRun): string =>
  result === null
    ? "none yet"
    : facts({
        result: resultLine(result),
        output: result.outputLocation,
        took: `${result.startedAt} to ${result.finishedAt}`,
        warnings: result.warnings.join("; "),
      });

/** Whether it ended well, or may still. */
const isFine = ({ state }: CommandRun): boolean => !["failed", "aborted", "declined"].includes(state);

export const answerOf = (run: RunForm): Answer => ({
  document: run,
  text: [
    facts({
      run: run.id,
      command: lineText(run),
      state: run.state,
      failure: run.failure,
      asked: `${instant(run.askedAtMs)} by ${run.actor}: ${run.reason}`,
      "decided by": run.decidedBy ?? (run.approver === null ? null : `waits for ${run.approver}`),
      closed: run.closedBy === null ? null : `${instant(run.closedAtMs)} by ${run.closedBy}`,
    }),
    bold("Before"),
    formText(run.questions),
    bold("Result"),
    resultText(run),
    bold("After"),
    formText(run.records),
  ].join("\n"),
  status: isFine(run) ? 0 : 1,
});

export const runTable = (runs: readonly CommandRun[]): string =>
  table(runs, {
    RUN: ({ id }) => id,
    COMMAND: lineText,
    STATE: ({ state }) => state,
    RESULT: ({ result }) => result?.status,
    CLOSED: ({ dryRun, closedBy }) => (dryRun ? "not to be" : closedBy),
    ASKED: ({ askedAtMs }) => instant(askedAtMs),
    BY: ({ actor }) => actor,
    WHY: ({ reason }) => reason,
  });

// What an operation upon dead letters came to, for a person.
import type { OperationReport } from "tuntas/queue";
import type { Answer } from "../../command.ts";
import { plural } from "../../render.ts";

export function answerOf(report: OperationReport, done: string): Answer {
  const { status, selected, moved, skipped, forbidden, auditId } = report;
  const lines = [
    status === "planned"
      ? `would have ${done} ${plural(selected, "message")}`
      : `${status}: ${done} ${moved} of ${plural(selected, "message")}`,
    ...(skipped > 0 ? [`${skipped} were moved or received by somebody else meanwhile`] : []),
    ...forbidden.map(
      ({ queue, code, rule, count }) => `forbidden: ${count} of ${queue} with ${code} (rule: ${rule})`,
    ),
    ...(auditId === null ? [] : [`on the record as ${auditId}`]),
  ];
  const isNo = status === "aborted" || selected === 0 || (status === "planned" && forbidden.length > 0);
  return { document: report, text: lines.join("\n"), status: isNo ? 1 : 0 };
}

/** Aborts at the first Ctrl-C, after the slice that runs; a second one ends the process as usual. */
export function abortOnInterrupt(): AbortSignal {
  const controller = new AbortController();
  process.once("SIGINT", () => controller.abort());
  return controller.signal;
}

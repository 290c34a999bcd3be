// What went in and out of one visit, out of the run's history.
import type { HistoryEvent } from "tuntas/workflow";
import type { VisitTexts } from "../../api/index.ts";
import { detailsOf, type Chronicle } from "./visits.ts";

type Draft<T> = { -readonly [K in keyof T]: T[K] };

const textOf = (value: unknown): string | null =>
  value === undefined ? null : typeof value === "string" ? value : JSON.stringify(value);

/** Undefined where no visit began with that event. The events are those from it on. */
export function textsOf(
  chronicle: Chronicle,
  events: readonly HistoryEvent[],
  visit: number,
): VisitTexts | undefined {
  if (!chronicle.visits.some(({ id }) => id === visit)) return undefined;
  const texts: Draft<VisitTexts> = { id: visit, input: null, output: null, assigned: null, attempts: [] };
  const attempts: Draft<VisitTexts["attempts"][number]>[] = [];
  for (const event of events) {
    if (chronicle.visitOf(event.id)?.id !== visit) continue;
    const { input, output, parameters, assignedVariables } = detailsOf(event);
    if (event.id === visit) texts.input = textOf(input);
    else if (event.type.endsWith("StateExited")) {
      texts.output = textOf(output);
      texts.assigned = textOf(assignedVariables);
    } else if (event.type.endsWith("Scheduled"))
      attempts.push({ input: textOf(parameters ?? input), output: null });
    else if (/(Task|Activity|LambdaFunction)Succeeded$/.test(event.type) && attempts.length > 0)
      attempts.at(-1)!.output = textOf(output);
  }
  return { ...texts, attempts };
}

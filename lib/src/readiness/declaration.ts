// Answers of people, declared beside what they are about, so that they are reviewed and dated like any other code.
import { catalogue } from "../core/error.ts";
import { refuseUnknown, type NamesOf } from "../core/options.ts";
import { declaring } from "../core/place.ts";
import { listNames, type ListName, type PersonsAnswer, type ReadinessDefinition } from "./contract.ts";
import { askable } from "./lists/index.ts";

export const readinessErrors = catalogue({
  TUNTAS_READINESS_ANSWER: {
    meaning: "An answer for a checklist is not complete, or to a question that the checklist does not ask.",
    remedy: "Write answers: { ITEM: { answer, by, on: 'YYYY-MM-DD' } }; `tuntas readiness` shows the items.",
  },
});

const isText = (value: unknown): boolean => typeof value === "string" && value.trim() !== "";
const isDay = (value: unknown): boolean =>
  typeof value === "string" && /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value));

function wrongAnswer(list: ListName, item: string, given: PersonsAnswer | undefined): string | undefined {
  const known = askable(list);
  if (!known.includes(item)) return `${item}: expected one of ${known.join(", ")}`;
  if (!isText(given?.answer)) return `${item}.answer: expected a sentence`;
  if (!isText(given?.by)) return `${item}.by: expected who stands for it`;
  return isDay(given?.on) ? undefined : `${item}.on: expected a day such as 2026-11-02`;
}

export interface ReadinessOptions {
  /** What it is about, or its name: a service, a queue, a workflow, a command; nothing of the platform. */
  readonly of?: string | { readonly name: string };
  readonly answers: Readonly<Record<string, PersonsAnswer>>;
}

const optionNames: NamesOf<ReadinessOptions> = { of: true, answers: true };

function declareReadiness(list: ListName, options: ReadinessOptions): ReadinessDefinition {
  refuseUnknown("readiness", options, optionNames);
  const { of = "", answers } = options;
  if (!listNames.includes(list))
    throw readinessErrors.error(
      "TUNTAS_READINESS_ANSWER",
      `readiness: expected ${listNames.join(", ")}, got ${JSON.stringify(list)}`,
    );
  const name = typeof of === "string" ? of : of.name;
  const wrong = Object.entries(answers).flatMap(([item, given]) => wrongAnswer(list, item, given) ?? []);
  if (wrong.length > 0)
    throw readinessErrors.error("TUNTAS_READINESS_ANSWER", `readiness ${list} ${name}: ${wrong.join("; ")}`);
  return { kind: "readiness", list, of: name, answers };
}

/**
 * Declares what people answer of a checklist; export it beside the application, and `tuntas readiness` reads it. Errors:
 * TUNTAS_READINESS_ANSWER.
 */
export const readiness = declaring(declareReadiness);

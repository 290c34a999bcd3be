// What a review asks. The thirteen questions come before any service's name; the six failures are those of the nine that the thirteen
// leave out; the result is what must be said beside the service's name.
import type { Failures } from "../scaffold/failures.ts";

/** The thirteen. */
export const questions = {
  type: "What is the type of the work?",
  several: "Is it several types?",
  trigger: "What is the trigger?",
  waits: "Who waits for the result?",
  takes: "How long can it run?",
  duplicate: "What happens on duplicate input?",
  partial: "What happens after a partial side effect?",
  scales: "What signal scales it?",
  downstream: "What downstream dependency limits it?",
  terminal: "What is the terminal failure path?",
  audit: "What must be audited?",
  isolation: "What is the minimum isolation boundary?",
  operator: "Who operates it at 03:00?",
} as const;

export const failures = {
  timeout: "What happens when it takes too long?",
  outage: "What happens when its downstream is away?",
  overload: "What happens when more comes than it can do?",
  badInput: "What happens to input that it cannot use?",
  crash: "What happens when its process dies in the middle?",
  badDeploy: "What happens when a bad version is deployed?",
} as const;

/** Which question is which failure of the matrix. */
export const matrix: Readonly<Record<keyof Failures, keyof typeof questions | keyof typeof failures>> = {
  "duplicate input": "duplicate",
  timeout: "timeout",
  "partial side effect": "partial",
  "downstream outage": "outage",
  overload: "overload",
  "bad input": "badInput",
  "crash mid-work": "crash",
  "bad deploy": "badDeploy",
  "terminal path": "terminal",
};

export const result = {
  traits: "Which traits of the work decide?",
  service: "Where does it run?",
  protection: "What protects its downstream?",
  signals: "What is tracked?",
} as const;

/** All that must be answered, in the order of the page. */
export const asked = { ...questions, ...failures, ...result } as const;
export type Asked = keyof typeof asked;

/** What need not be there: what was seen of it where it runs already, its steps, and what is meant so. */
export const optional = {
  symptoms: "What of this is so?",
  steps: "Which steps does it take, in order?",
  meant: "What is meant so?",
} as const;
export type Heading = Asked | keyof typeof optional;

export const headings: Readonly<Record<Heading, string>> = { ...asked, ...optional };

const blank = /^(?:todo|tbd|fixme|n\/?a|unknown|later|\?+|-+|…|\.+)?$/i;
const nobody = /^(?:nobody|no ?one|somebody|someone|none|nothing|us|me)$/i;
/** To these nobody and nothing is no answer. */
const needsSomebody: ReadonlySet<Asked> = new Set(["operator", "terminal", "scales", "trigger"]);

/** Whether the text says anything. */
export function isAnswer(question: Asked, text: string): boolean {
  const said = text.replace(/\.$/, "").trim();
  return !blank.test(said) && !(needsSomebody.has(question) && nobody.test(said));
}

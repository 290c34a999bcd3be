// The service's limits, what they mean, and how to measure against them.
import type { Json } from "./contract.ts";

export const limits = {
  /** State input, output, task result: bytes of JSON text in UTF-8. */
  dataBytes: 262_144,
  /** What one state assigns, and so each variable. */
  assignBytes: 262_144,
  /** All variables of an execution. */
  variablesBytes: 10_485_760,
  historyEvents: 25_000,
  /** How long an Express execution may last, whatever its TimeoutSeconds. */
  expressSeconds: 300,
  stateNameCharacters: 80,
  labelCharacters: 40,
  variableNameCharacters: 80,
  /** Definition text. */
  definitionBytes: 1_048_576,
  batchInputBytes: 262_144,
  /** Iterations of an inline Map that run side by side, whatever its MaxConcurrency. */
  inlineConcurrency: 40,
  /** Seconds of a Wait, a timeout or a heartbeat. */
  waitSeconds: 99_999_999,
  /** Lists and objects within each other. Deeper ones exhaust the stack of whoever walks through them. */
  nesting: 1000,
} as const;

/** What happens at each limit, for whoever meets it. */
export const limitMeanings: Readonly<Record<keyof typeof limits, string>> = {
  dataBytes:
    "JSON text, in UTF-8, of an execution's input, a state's output, a task's result. What is larger fails with States.DataLimitExceeded, which States.ALL does not catch. Half of it is told once by tuntas.workflow.near_limit.",
  assignBytes:
    "JSON text, in UTF-8, of all variables that one state assigns, and so of each. A state that assigns more fails with States.DataLimitExceeded.",
  variablesBytes:
    "JSON text of all variables of an execution, those of its branches and iterations too. A state that would exceed it fails with States.DataLimitExceeded.",
  historyEvents:
    "Events of a Standard execution. It fails with States.Runtime at the last one and cannot be redriven. Half of them are told once by tuntas.workflow.near_limit. Express executions keep no history.",
  expressSeconds:
    "How long an Express execution may last, whatever its TimeoutSeconds; then it is TIMED_OUT.",
  stateNameCharacters: "Characters of a state's name; a definition with a longer one is refused.",
  labelCharacters: "Characters of a distributed Map's label; a longer one is refused.",
  variableNameCharacters: "Characters of a variable's name; a longer one is refused.",
  definitionBytes: "Bytes of a definition's text; a longer one is refused.",
  batchInputBytes:
    "Bytes of the input of a child that works on a batch; a batch ends before it grows larger.",
  inlineConcurrency: "Iterations of an inline Map that run side by side, whatever its MaxConcurrency.",
  waitSeconds: "Seconds of a Wait, a timeout or a heartbeat; a longer one fails.",
  nesting: "Lists and objects within each other, in data and definitions; deeper ones are refused.",
};

/** Whether the JSON text nests its lists and objects too deeply; counted without making them. */
export function isTooDeep(text: string): boolean {
  if (text.length < 2 * limits.nesting) return false;
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const unit = text[i];
    if (inString) {
      if (unit === "\\") i++;
      else if (unit === '"') inString = false;
    } else if (unit === '"') inString = true;
    else if (unit === "[" || unit === "{") {
      if (++depth > limits.nesting) return true;
    } else if (unit === "]" || unit === "}") depth--;
  }
  return false;
}

/** What comes from outside: JSON of a depth that everybody can walk through. Throws a SyntaxError. */
export function readJson(text: string): Json {
  if (isTooDeep(text)) throw new SyntaxError(`JSON is nested more than ${limits.nesting} levels deep`);
  return JSON.parse(text) as Json;
}

/** The size of a text in UTF-8 is at most three bytes a UTF-16 unit, so most texts need not be counted. */
export function exceedsBytes(text: string, limit: number): boolean {
  if (text.length > limit) return true;
  return text.length * 3 > limit && utf8Bytes(text) > limit;
}

export function utf8Bytes(text: string): number {
  let bytes = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (unit >= 0xd800 && unit < 0xdc00) {
      bytes += 4;
      i++;
    } else bytes += 3;
  }
  return bytes;
}

// Rules of the language that go beyond the type of a field: which fields belong to which query language and to which Map,
// where States.ALL may stand, and the ranges of numbers. Each is one that the specification makes a MUST.
import type { Json, JsonObject } from "../contract.ts";
import { isObject } from "../path/evaluate.ts";
import { readPaths } from "./fields.ts";

type Report = (location: string, message: string) => void;
type Rule = (state: JsonObject, language: string) => readonly Fault[];
interface Fault {
  /** Below the state: "/Retry[0]". */
  readonly at: string;
  readonly message: string;
}

const fieldsOf: Readonly<Record<string, readonly string[]>> = {
  JSONPath: [...readPaths, "Parameters", "ResultSelector", "ResultPath"],
  JSONata: ["Arguments", "Output", "Items"],
};

const ofOtherLanguage: Rule = (state, language) =>
  Object.entries(fieldsOf).flatMap(([of, fields]) =>
    of === language
      ? []
      : fields
          .filter((field) => state[field] !== undefined)
          .map((field) => ({
            at: `/${field}`,
            message: `The field '${field}' is not supported when 'QueryLanguage' is '${language}'`,
          })),
  );

const namesIn = ({ ErrorEquals }: JsonObject): readonly Json[] =>
  Array.isArray(ErrorEquals) ? (ErrorEquals as readonly Json[]) : [];

function handlers(
  state: JsonObject,
): readonly { readonly at: string; readonly handler: JsonObject; readonly isLast: boolean }[] {
  return ["Retry", "Catch"].flatMap((field) => {
    const list = Array.isArray(state[field]) ? (state[field] as readonly Json[]) : [];
    return list.flatMap((handler, i) =>
      isObject(handler) ? [{ at: `/${field}[${i}]`, handler, isLast: i === list.length - 1 }] : [],
    );
  });
}

const statesAll: Rule = (state) =>
  handlers(state)
    .filter(({ handler, isLast }) => {
      const names = namesIn(handler);
      return names.includes("States.ALL") && (names.length > 1 || !isLast);
    })
    .map(({ at }) => ({
      at: `${at}/ErrorEquals`,
      message: "'States.ALL' can only appear by itself, and in the last element",
    }));

const least: Readonly<Record<string, number>> = {
  IntervalSeconds: 0,
  MaxAttempts: 0,
  BackoffRate: 1,
  MaxDelaySeconds: 1,
};

const retryRanges: Rule = (state) =>
  handlers(state).flatMap(({ at, handler }) =>
    Object.entries(least)
      .filter(([field, min]) => typeof handler[field] === "number" && handler[field] < min)
      .map(([field, min]) => ({ at: `${at}/${field}`, message: `Value must be at least ${min}` })),
  );

const clocks: Rule = ({ TimeoutSeconds: timeout, HeartbeatSeconds: heartbeat }) => {
  if (typeof timeout === "number" && timeout < 1)
    return [{ at: "/TimeoutSeconds", message: "Value must be at least 1" }];
  if (typeof timeout !== "number" || typeof heartbeat !== "number" || heartbeat < timeout) return [];
  return [{ at: "/HeartbeatSeconds", message: "'HeartbeatSeconds' must be smaller than 'TimeoutSeconds'" }];
};

const onlyDistributed = ["ItemReader", "ItemBatcher", "ResultWriter", "Label"];

const distributed: Rule = (state) => {
  const processor = state.ItemProcessor ?? state.Iterator;
  const config = isObject(processor) && isObject(processor.ProcessorConfig) ? processor.ProcessorConfig : {};
  if (state.Type !== "Map" || config.Mode === "DISTRIBUTED") return [];
  return onlyDistributed
    .filter((field) => state[field] !== undefined)
    .map((field) => ({
      at: `/${field}`,
      message: `The field '${field}' is only supported when 'Mode' is 'DISTRIBUTED'`,
    }));
};

const ends: Rule = ({ Type, Next, End }) => {
  const isEnd = Type === "Succeed" || Type === "Fail";
  if (isEnd && (Next !== undefined || End !== undefined))
    return [{ at: "", message: `A state of type '${Type}' has neither 'Next' nor 'End'` }];
  if (Next === undefined || End !== true) return [];
  return [{ at: "", message: "A state has either 'Next' or 'End', not both" }];
};

const rules: readonly Rule[] = [ofOtherLanguage, statesAll, retryRanges, clocks, distributed, ends];

export function checkRules(state: JsonObject, language: string, report: Report): void {
  for (const rule of rules) for (const { at, message } of rule(state, language)) report(at, message);
}

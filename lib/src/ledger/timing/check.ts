// Times that must stand in order, or a worker goes on with what its workflow has given up, and a workflow with a
// decision whose time is over. Pure: what was declared and measured comes in, findings with both numbers come out.
import type { Duration } from "../../core/duration.ts";
import { toMs } from "../../core/duration.ts";

export interface TimingDeclaration {
  readonly name: string;
  /** Where it is declared, as file:line. */
  readonly place?: string;
  /** How long a claim holds without renewal. */
  readonly lease?: Duration;
  /** How long a wait lasts without a heartbeat. */
  readonly heartbeat?: Duration;
  readonly taskTimeout?: Duration;
  /** When the business decision, the reservation, the job is void. */
  readonly businessExpiry?: Duration;
  readonly visibility?: Duration;
  /** The handler's 99th percentile, as it is expected. */
  readonly p99?: Duration;
  /** The same as it was measured, where somebody has looked. */
  readonly measured?: MeasuredP99;
  /** The attempt's own timeout, which bounds it where no percentile is known. */
  readonly attempt?: Duration;
  /** What the handler may wait for others. */
  readonly downstream?: Duration;
  /** What retries within one attempt may take. */
  readonly retries?: Duration;
  /** What acknowledging may take; 1s by default. */
  readonly margin?: Duration;
  /** What a stopping process gets for what runs; 25s by default, as `start` has it. */
  readonly drain?: Duration;
  /** Rules of `tuntas check` that these times break on purpose, and why. */
  readonly accepts?: Readonly<Record<string, string>>;
}

export interface MeasuredP99 {
  readonly p99Ms: number;
  readonly attempts: number;
}

export interface TimedValue {
  readonly what: string;
  readonly ms: number;
}

export interface TimingFinding {
  readonly name: string;
  readonly place: string | undefined;
  readonly rule: string;
  /** The one that is too long, then the one that it must fit into. */
  readonly values: readonly [TimedValue, TimedValue];
  readonly message: string;
  readonly fix: string;
}

const ladder = [
  ["lease", "lease"],
  ["heartbeat", "heartbeat"],
  ["taskTimeout", "task timeout"],
  ["businessExpiry", "business expiry"],
] as const;

const rule = "lease < heartbeat < task timeout < business expiry";
const budgetRule = "visibility >= p99 + downstream + retries + margin";

const inWords = (ms: number): string =>
  ms % 60_000 === 0 && ms > 0 ? `${ms / 60_000} min` : `${Math.round(ms) / 1000} s`;

/** Each declared rung with the next declared one above it. */
function rungs(declaration: TimingDeclaration): [TimedValue, TimedValue][] {
  const declared = ladder.flatMap(([field, what]) => {
    const value = declaration[field];
    return value === undefined ? [] : [{ what, ms: toMs(value, `${declaration.name}: ${field}`) }];
  });
  return declared.slice(1).map((upper, index) => [declared[index]!, upper]);
}

function checkLadder(declaration: TimingDeclaration): TimingFinding[] {
  return rungs(declaration)
    .filter(([lower, upper]) => lower.ms >= upper.ms)
    .map(([lower, upper]) => ({
      name: declaration.name,
      place: declaration.place,
      rule,
      values: [lower, upper],
      message: `${declaration.name}: the ${lower.what} of ${inWords(lower.ms)} must be shorter than the ${upper.what} of ${inWords(upper.ms)}`,
      fix: `Make the ${lower.what} shorter than ${inWords(upper.ms)}, or the ${upper.what} longer than ${inWords(lower.ms)}.`,
    }));
}

/** What an attempt takes: the larger of what was declared and measured; its timeout where no percentile is declared. */
function longestOf({ p99, attempt, measured }: TimingDeclaration): TimedValue | undefined {
  const declared = p99 ?? attempt;
  if (declared === undefined) return measured && { what: "p99", ms: measured.p99Ms };
  const ms = p99 === undefined ? toMs(declared) : Math.max(toMs(p99), measured?.p99Ms ?? 0);
  return { what: p99 === undefined ? "attempt timeout" : "p99", ms };
}

/** The measured number, beside the declared one. */
function measuredBeside({ measured, p99 }: TimingDeclaration): string {
  if (!measured) return "";
  const beside = p99 === undefined ? "" : `, declared ${inWords(toMs(p99))}`;
  return `; measured p99 ${inWords(measured.p99Ms)} over ${measured.attempts} attempts${beside}`;
}

function checkBudget(declaration: TimingDeclaration): TimingFinding[] {
  const { name, place, visibility, downstream, retries, margin = "1s" } = declaration;
  const longest = longestOf(declaration);
  if (visibility === undefined || longest === undefined) return [];
  const others = Object.entries({ downstream, retries, margin }).flatMap(([what, part]) =>
    part === undefined ? [] : [{ what, ms: toMs(part) }],
  );
  const parts = [longest, ...others];
  const needMs = parts.reduce((sum, { ms }) => sum + ms, 0);
  const haveMs = toMs(visibility);
  if (haveMs >= needMs) return [];
  const sum = parts.map(({ what, ms }) => `${what} ${inWords(ms)}`).join(" + ");
  return [
    {
      name,
      place,
      rule: budgetRule,
      values: [
        { what: "time needed", ms: needMs },
        { what: "visibility", ms: haveMs },
      ],
      message: `${name}: the visibility of ${inWords(haveMs)} is shorter than the ${inWords(needMs)} that an attempt may take (${sum}${measuredBeside(declaration)})`,
      fix: `Make the visibility at least ${inWords(needMs)}, or have the attempt take less.`,
    },
  ];
}

/** Every violation, in the order of the declarations. */
export const checkTiming = (declarations: readonly TimingDeclaration[]): TimingFinding[] =>
  declarations.flatMap((declaration) => [...checkLadder(declaration), ...checkBudget(declaration)]);

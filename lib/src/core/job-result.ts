// The result document that every job leaves, and the fixed meaning of exit codes. Both are needed: an exit code without a
// document says that something ended, and not what it did. Pure; docs/operate/operations.md#results has the tables.
import { formatTimestamp } from "./timestamp.ts";

export const jobStatuses = [
  "SUCCEEDED",
  /** It is done, and something about it is to be looked at. */
  "PARTIAL",
  "FAILED",
  "TIMED_OUT",
  "KILLED",
  "STOPPED",
] as const;
export type JobStatus = (typeof jobStatuses)[number];

/** Whether the same job is to be run again: by itself after a while, later when a lock is free, by a person, or not as it is. */
export type Retry = "never" | "backoff" | "later" | "person";

export interface ExitMeaning {
  readonly code: number;
  readonly status: JobStatus;
  readonly retry: Retry;
  readonly meaning: string;
}

export const exitCodes: readonly ExitMeaning[] = [
  { code: 0, status: "SUCCEEDED", retry: "never", meaning: "done" },
  { code: 1, status: "FAILED", retry: "backoff", meaning: "failed unexpectedly; another try may help" },
  { code: 2, status: "FAILED", retry: "never", meaning: "the input is wrong; another try cannot help" },
  { code: 3, status: "PARTIAL", retry: "never", meaning: "done with warnings, or in part" },
  { code: 4, status: "FAILED", retry: "later", meaning: "a lock or another run is in the way" },
  { code: 124, status: "TIMED_OUT", retry: "person", meaning: "took longer than its timeout" },
  { code: 137, status: "KILLED", retry: "person", meaning: "killed (SIGKILL), as for lack of memory" },
  { code: 143, status: "STOPPED", retry: "backoff", meaning: "stopped by SIGTERM" },
];

/** What an exit code means; one that is not in the table is a failure that a person looks at. */
export const meaningOf = (code: number): ExitMeaning =>
  exitCodes.find((each) => each.code === code) ?? {
    code,
    status: "FAILED",
    retry: "person",
    meaning: "an exit code without a meaning",
  };

const signalNumbers: Readonly<Record<string, number>> = { SIGINT: 2, SIGKILL: 9, SIGSEGV: 11, SIGTERM: 15 };

/** The exit code as shells have it: 128 and the signal's number where a signal ended it. */
export const exitCodeOf = (code: number | null, signal: string | null): number =>
  code ?? 128 + (signalNumbers[signal ?? ""] ?? 0);

export interface JobCounts {
  readonly recordsRead: number;
  readonly recordsWritten: number;
  readonly recordsSkipped: number;
  readonly recordsFailed: number;
}

export interface JobResult extends JobCounts {
  readonly jobId: string;
  readonly status: JobStatus;
  readonly exitCode: number;
  /** ISO 8601; the same as the end where it never began. */
  readonly startedAt: string;
  readonly finishedAt: string;
  /** Where what it made lies, which is never in here: a document fits into a message. Null where it made nothing. */
  readonly outputLocation: string | null;
  readonly warnings: readonly string[];
}

/** What a job says of itself at its end. The sum of written, skipped and failed is what was read. */
export interface JobAccount {
  readonly recordsRead: number;
  readonly recordsWritten: number;
  readonly recordsSkipped?: number;
  readonly recordsFailed?: number;
  readonly outputLocation?: string | null;
  /** A reason for what was skipped, at least. */
  readonly warnings?: readonly string[];
}

const counts = ["recordsRead", "recordsWritten", "recordsSkipped", "recordsFailed"] as const;
const needed: ReadonlySet<string> = new Set(["recordsRead", "recordsWritten"]);
const instantForm = "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d+)?Z$";
const count = { type: "integer", minimum: 0 } as const;
const warningsMax = 100;
const textMax = 2000;

/** The document as JSON Schema (draft 2020-12). The sums are checked beside it. */
export const jobResultSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "What a job has come to",
  type: "object",
  properties: {
    jobId: { type: "string", minLength: 1 },
    status: { enum: jobStatuses },
    exitCode: { type: "integer", minimum: 0, maximum: 255 },
    startedAt: { type: "string", pattern: instantForm },
    finishedAt: { type: "string", pattern: instantForm },
    recordsRead: count,
    recordsWritten: count,
    recordsSkipped: count,
    recordsFailed: count,
    outputLocation: { type: ["string", "null"], maxLength: textMax },
    warnings: { type: "array", maxItems: warningsMax, items: { type: "string", maxLength: textMax } },
  },
  required: [
    "jobId",
    "status",
    "startedAt",
    "finishedAt",
    "recordsRead",
    "recordsWritten",
    "recordsSkipped",
    "outputLocation",
    "warnings",
  ],
} as const;

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isLocation = (value: unknown): boolean =>
  value === null || (typeof value === "string" && value.length <= textMax);
const isWarning = (value: unknown): boolean => typeof value === "string" && value.length <= textMax;

function* wrongSums(of: Readonly<Record<string, unknown>>): Generator<string> {
  const [read, written, skipped, failed] = counts.map((name) => Number(of[name] ?? 0)) as [
    number,
    number,
    number,
    number,
  ];
  const warnings = of.warnings ?? [];
  if (read !== written + skipped + failed)
    yield `expected recordsRead (${read}) to be written + skipped + failed (${written} + ${skipped} + ${failed})`;
  if (skipped > 0 && Array.isArray(warnings) && warnings.length === 0)
    yield `expected a warning that says why ${skipped} records were skipped`;
}

/** What is wrong with an account, or with the same fields of a document; empty where nothing is. */
export function wrongAccount(value: unknown): string[] {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return [`expected an object with recordsRead and recordsWritten, got ${JSON.stringify(value)}`];
  const of = value as Readonly<Record<string, unknown>>;
  const wrong: string[] = counts
    .filter((name) => !isCount(of[name] ?? (needed.has(name) ? undefined : 0)))
    .map((name) => `${name}: expected a count from 0, got ${JSON.stringify(of[name])}`);
  if (of.outputLocation !== undefined && !isLocation(of.outputLocation))
    wrong.push(`outputLocation: expected a text of at most ${textMax} characters, or null`);
  const { warnings = [] } = of;
  if (!Array.isArray(warnings) || warnings.length > warningsMax || !warnings.every(isWarning))
    wrong.push(`warnings: expected at most ${warningsMax} texts of at most ${textMax} characters`);
  return wrong.length > 0 ? wrong : [...wrongSums(of)];
}

const form = new RegExp(instantForm);

/** What is wrong with a result document; empty where nothing is. */
export function wrongResult(value: unknown): string[] {
  const wrong = wrongAccount(value);
  if (typeof value !== "object" || value === null) return wrong;
  const of = value as Readonly<Record<string, unknown>>;
  for (const name of jobResultSchema.required)
    if (of[name] === undefined && !wrong.some((each) => each.startsWith(name)))
      wrong.push(`${name}: missing`);
  if (of.jobId !== undefined && (typeof of.jobId !== "string" || of.jobId === ""))
    wrong.push(`jobId: expected a text`);
  if (of.status !== undefined && !jobStatuses.includes(of.status as JobStatus))
    wrong.push(`status: expected one of ${jobStatuses.join(", ")}, got ${JSON.stringify(of.status)}`);
  for (const name of ["startedAt", "finishedAt"] as const)
    if (of[name] !== undefined && !(typeof of[name] === "string" && form.test(of[name])))
      wrong.push(`${name}: expected an instant such as 2026-07-06T01:00:00Z`);
  return wrong;
}

/** How a job has ended, before it is known what it says of itself. */
export interface Ending {
  readonly jobId: string;
  readonly exitCode: number;
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
  /** What it left; undefined where it left nothing. */
  readonly account: unknown;
  /** Why it failed, in words, where that is known. */
  readonly failure?: string | undefined;
}

const nothing: JobAccount = { recordsRead: 0, recordsWritten: 0 };
const promised: readonly JobStatus[] = ["SUCCEEDED", "PARTIAL"];

/** What speaks against the end that the exit code says. */
function* contradictions(status: JobStatus, account: unknown, wrong: readonly string[]): Generator<string> {
  if (account === undefined && promised.includes(status)) yield "missing result";
  yield* wrong;
  const said = (account as { readonly status?: unknown } | undefined)?.status;
  if (said !== undefined && said !== status)
    yield `the result says ${JSON.stringify(said)}, the exit code ${status}`;
}

/**
 * What became of a job: the exit code says whether it worked, its account what it did, and one without the other is a
 * failure. An account whose sums are wrong is none.
 */
export function concluded({ jobId, exitCode, account, failure, ...times }: Ending): JobResult {
  const wrong = account === undefined ? [] : wrongAccount(account);
  const said = (account === undefined || wrong.length > 0 ? nothing : account) as JobAccount;
  const meant = meaningOf(exitCode).status;
  const against = [...contradictions(meant, account, wrong)];
  const warnings = [...(failure === undefined ? [] : [failure]), ...against, ...(said.warnings ?? [])];
  return {
    jobId,
    status: promised.includes(meant) && against.length > 0 ? "FAILED" : meant,
    exitCode,
    startedAt: formatTimestamp(Math.floor(times.startedAtMs)),
    finishedAt: formatTimestamp(Math.floor(times.finishedAtMs)),
    recordsRead: said.recordsRead,
    recordsWritten: said.recordsWritten,
    recordsSkipped: said.recordsSkipped ?? 0,
    recordsFailed: said.recordsFailed ?? 0,
    outputLocation: said.outputLocation ?? null,
    warnings: warnings.map((each) => each.slice(0, textMax)).slice(0, warningsMax),
  };
}

/** Whether the job did what it was to do. */
export const isGood = ({ status }: Pick<JobResult, "status">): boolean => promised.includes(status);

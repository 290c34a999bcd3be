// Declaring schedules. What a schedule must say is checked here as well as by the compiler, so that an untyped
// declaration is refused too, with everything that it leaves out at once.
import { declaring } from "../core/place.ts";
import { parseExpression, recurrence, zoneOf } from "../core/cron/index.ts";
import { toMs, type Duration } from "../core/duration.ts";
import { isTuntasError } from "../core/error.ts";
import { unknownOptions, type NamesOf } from "../core/options.ts";
import {
  dayMs,
  got,
  isText,
  wrongTime as wrongSpan,
  wrongNumber,
  type Finding,
  wrongName,
} from "../engine/findings.ts";
import { isStorable } from "../core/text.ts";
import { formatTimestamp, parseTimestamp } from "../core/timestamp.ts";
import { defaultScope } from "../queue/contract.ts";
import {
  type CatchUp,
  defaultRetry,
  type OccurrenceInput,
  overlaps,
  type ScheduleDefinition,
  scheduleErrors,
  type ScheduleOptions,
  weekdays,
} from "./contract.ts";
import { defaultGroup } from "./place.ts";
import type { ScheduleSettings } from "./settings.ts";
import { inputOf } from "./state.ts";

// With the instant it makes the name of an execution, which has 80 characters.
const nameForm = /^[a-zA-Z0-9][a-zA-Z0-9_-]{0,47}$/;

/** What the room below says of it, if it refuses it. */
function refused(field: string, make: () => unknown): Finding {
  try {
    make();
    return undefined;
  } catch (error) {
    if (isTuntasError(error)) return `${field}: ${error.message}`;
    throw error;
  }
}

const wrongTime = (field: string, value: unknown, bounds: readonly [number, number]): Finding =>
  wrongSpan(field, value, bounds, "2h");

/** The rule and its bound; undefined where it is neither. */
function catchUpOf(given: CatchUp | undefined): readonly ["skip" | "latest" | "all", Duration] | undefined {
  if (given === "skip") return ["skip", "0s"];
  const entries = Object.entries(given ?? {});
  const [rule, within] = entries[0] ?? [];
  return entries.length === 1 && (rule === "latest" || rule === "all")
    ? [rule, within as Duration]
    : undefined;
}

function* wrongCatchUp({ catchUp, overlap }: ScheduleOptions): Generator<Finding> {
  const rule = catchUpOf(catchUp);
  if (!rule) return yield `catchUp: expected "skip", { latest: "1d" } or { all: "2h" }, ${got(catchUp)}`;
  if (rule[0] === "skip") return;
  yield wrongTime(`catchUp.${rule[0]}`, rule[1], [1000, 366 * dayMs]);
  yield (
    rule[0] === "all" &&
    overlap === "skip" &&
    'catchUp: all that are caught up come at once and would skip each other; choose overlap "queue" or "allow", or { latest }'
  );
}

const isDate = (text: unknown): boolean => {
  if (typeof text !== "string" || !/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const ms = parseTimestamp(`${text}T00:00:00Z`);
  return ms !== undefined && formatTimestamp(ms).startsWith(text);
};

function* wrongHolidays({ holidays, overlap }: ScheduleOptions): Generator<Finding> {
  if (holidays === undefined) return;
  const { dates, weekdays: closed = [], rule } = holidays ?? {};
  yield (
    !(Array.isArray(dates) && dates.every(isDate)) &&
    `holidays.dates: expected dates such as "2026-12-25", ${got(dates)}`
  );
  yield (
    !(
      Array.isArray(closed) &&
      closed.length < weekdays.length &&
      closed.every((day) => weekdays.includes(day))
    ) && `holidays.weekdays: expected some of ${weekdays.join(", ")}, not all, ${got(closed)}`
  );
  yield rule !== "skip" && rule !== "move" && `holidays.rule: expected "skip" or "move", ${got(rule)}`;
  yield (
    rule === "move" &&
    overlap === "skip" &&
    'holidays.rule: what is moved meets what is due by itself that day, and one would skip the other; choose overlap "queue" or "allow"'
  );
}

/** What is said of work that does not begin at once. */
function* wrongBeginning({
  retry,
  deadLetter,
  flexible,
  succeedsWithin,
}: ScheduleOptions): Generator<Finding> {
  if (retry !== undefined) {
    const { attempts, within } = retry ?? {};
    yield wrongNumber("retry.attempts", attempts, [1, 1000]);
    yield wrongTime("retry.within", within, [1000, 14 * dayMs]);
  }
  yield (
    deadLetter !== undefined &&
    (deadLetter?.kind !== "queue" || !isText(deadLetter.name)) &&
    `deadLetter: expected a queue, ${got(deadLetter)}`
  );
  if (flexible === undefined) return;
  const wrong = wrongTime("flexible", flexible, [1000, dayMs]);
  yield wrong;
  yield (
    !wrong &&
    wrongTime("flexible", succeedsWithin, [toMs(flexible), Infinity]) &&
    "flexible: expected less than succeedsWithin, which counts from when the work is due"
  );
}

const optionNames: NamesOf<ScheduleOptions> = {
  when: true,
  timeZone: true,
  overlap: true,
  catchUp: true,
  target: true,
  input: true,
  succeedsWithin: true,
  holidays: { dates: true, weekdays: true, rule: true },
  flexible: true,
  retry: { attempts: true, within: true },
  deadLetter: true,
  retention: true,
  owner: true,
  runbook: true,
};

function* findings(name: string, options: ScheduleOptions): Generator<Finding> {
  yield* unknownOptions(options, optionNames);
  yield wrongName(name, nameForm, 'up to 48 letters, digits, "-" and "_"');
  yield refused("timeZone", () => zoneOf(options.timeZone));
  yield refused("when", () => parseExpression(options.when));
  yield (
    !overlaps.includes(options.overlap) &&
    `overlap: expected one of ${overlaps.join(", ")}, ${got(options.overlap)}`
  );
  yield* wrongCatchUp(options);
  yield (
    (!isText(options.target?.kind) || !isText(options.target?.name)) &&
    `target: expected a queue, a workflow or { kind, name }, ${got(options.target)}`
  );
  yield wrongTime("succeedsWithin", options.succeedsWithin, [1000, 366 * dayMs]);
  yield* wrongHolidays(options);
  yield* wrongBeginning(options);
  if (options.retention !== undefined)
    yield wrongTime("retention", options.retention, [60_000, 3660 * dayMs]);
  yield !isText(options.owner) && "owner: expected who acts when it fails";
  yield !isText(options.runbook) && "runbook: expected what they read first";
  const input = options.input ?? {};
  yield (typeof input !== "object" || Array.isArray(input)) && `input: expected an object, ${got(input)}`;
  const texts = [options.owner, options.runbook, options.target?.kind, options.target?.name];
  yield (
    texts.some((each) => isText(each) && !isStorable(each)) && "expected text without NUL or lone surrogates"
  );
}

function declareSchedule(name: string, options: ScheduleOptions): ScheduleDefinition {
  const found = [...findings(name, options ?? {})].filter(Boolean);
  if (found.length === 0)
    found.push(
      ...[
        refused("when", () => recurrence(parseExpression(options.when), zoneOf(options.timeZone), 0)),
      ].filter(Boolean),
    );
  if (found.length > 0)
    throw scheduleErrors.error(
      "TUNTAS_SCHEDULE_OPTIONS",
      `schedule ${JSON.stringify(name)}: ${found.join("; ")}`,
    );
  return { kind: "schedule", name, options };
}

/** Declares a schedule. Errors: TUNTAS_SCHEDULE_OPTIONS, which names everything that is missing. */
export const schedule = declaring(declareSchedule);

/** Those of the declared ones that an application fires by itself; all where it names none. Errors: TUNTAS_SCHEDULE_OPTIONS. */
export function firedOf(
  declared: readonly ScheduleDefinition[],
  names: readonly string[] | undefined,
): readonly ScheduleDefinition[] {
  const unknown = names?.find((name) => !declared.some((each) => each.name === name));
  if (unknown !== undefined)
    throw scheduleErrors.error(
      "TUNTAS_SCHEDULE_OPTIONS",
      `start: schedules: expected names of declared schedules, got ${JSON.stringify(unknown)}`,
    );
  return names ? declared.filter(({ name }) => names.includes(name)) : declared;
}

/** The longest pause between two occurrences within four years, or between the first thousand of them. */
export function longestPauseMs({ options: { when, timeZone } }: ScheduleDefinition): number {
  const { next } = recurrence(parseExpression(when), zoneOf(timeZone), 0);
  const until = 1461 * dayMs;
  let longest = 0;
  let last = next(0);
  for (let count = 0; last !== undefined && last < until && count < 1000; count++) {
    const following = next(last);
    longest = Math.max(longest, (following ?? Infinity) - last);
    last = following;
  }
  return last === undefined || longest === 0 ? Infinity : longest;
}

/** What the work gets, at some instant: to see whether its schema takes it. */
export const sampleOf = ({ name, options }: ScheduleDefinition): OccurrenceInput =>
  inputOf({
    schedule: name,
    timeZone: options.timeZone,
    input: options.input ?? {},
    dueMs: dayMs,
    windowStartMs: 0,
    windowEndMs: dayMs,
  });

/** What only EventBridge's API says of a schedule, for one that is declared. */
const undemanding = {
  account: defaultScope.account,
  region: defaultScope.region,
  group: defaultGroup,
  startsMs: null,
  endsMs: null,
  afterwards: "keep",
  isTemplate: false,
  extras: "{}",
  description: null,
  request: null,
} as const satisfies Partial<ScheduleSettings>;

export function settingsOf({ name, options }: ScheduleDefinition): ScheduleSettings {
  const [catchUp, within] = catchUpOf(options.catchUp)!;
  const { retry, holidays, deadLetter } = options;
  return {
    name,
    expression: options.when,
    timeZone: options.timeZone,
    targetKind: options.target.kind,
    targetName: options.target.name,
    input: JSON.stringify(options.input ?? {}),
    overlap: options.overlap,
    catchUp,
    catchUpWithinMs: toMs(within),
    succeedsWithinMs: toMs(options.succeedsWithin),
    retentionMs: toMs(options.retention ?? "30d"),
    owner: options.owner,
    runbook: options.runbook,
    flexibleMs: toMs(options.flexible ?? "0s"),
    retriesMax: retry ? retry.attempts - 1 : defaultRetry.retriesMax,
    retryWithinMs: retry ? toMs(retry.within) : defaultRetry.retryWithinMs,
    deadLetter: deadLetter?.name ?? null,
    holidays: holidays ? JSON.stringify(holidays) : null,
    ...undemanding,
  };
}

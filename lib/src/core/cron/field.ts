// One field of a cron expression: lists, ranges, steps and names become the numbers that they stand for.
import { cronErrors } from "./error.ts";

export interface FieldShape {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** The names of the values, from `min` on. */
  readonly names?: readonly string[];
  /** What else it may be, for the message. */
  readonly also?: string;
}

/** What EventBridge and crontab read differently in a list. */
export interface FieldRules {
  /** `20-2` goes on over the end, and `5/15` to the end. */
  readonly wraps: boolean;
}

export interface Field {
  /** In order, each once. */
  readonly values: readonly number[];
  /** Written as a rhythm and not as a time: all of it, or in open steps such as `0/15`. */
  readonly rhythm: boolean;
}

/** The error of a field: which, what was expected, what came. */
export function unfit({ name, min, max, names, also }: FieldShape, got: string) {
  const named = names ? ` (${names[0]}-${names.at(-1)})` : "";
  const expected = `${min}-${max}${named}${also === undefined ? "" : `, ${also}`}`;
  return cronErrors.error(
    "TUNTAS_CRON_INVALID",
    `${name}: expected ${expected}, got ${JSON.stringify(got)}`,
    {
      details: { field: name },
    },
  );
}

/** The number of a value or a name. */
export function valueOf(shape: FieldShape, text: string): number {
  const named = shape.names?.indexOf(text.toUpperCase()) ?? -1;
  const value = named >= 0 ? shape.min + named : /^\d{1,4}$/.test(text) ? Number(text) : NaN;
  if (!(value >= shape.min && value <= shape.max)) throw unfit(shape, text);
  return value;
}

interface Element {
  readonly first: number;
  readonly last: number;
  readonly step: number;
  readonly open: boolean;
}

function stepOf(shape: FieldShape, text: string | undefined, whole: string): number {
  if (text === undefined) return 1;
  const step = Number(text);
  if (step >= 1 && step <= shape.max - shape.min) return step;
  throw unfit(
    { ...shape, also: `with a step of 1-${shape.max - shape.min} that begins anew each time` },
    whole,
  );
}

function elementOf(shape: FieldShape, { wraps }: FieldRules, text: string): Element {
  const match = /^(?:\*|([A-Z0-9]{1,4})(?:-([A-Z0-9]{1,4}))?)(?:\/(\d{1,4}))?$/i.exec(text);
  if (!match) throw unfit(shape, text);
  const [, from, to, by] = match;
  const step = stepOf(shape, by, text);
  if (from === undefined) return { first: shape.min, last: shape.max, step, open: true };
  const first = valueOf(shape, from);
  if (to !== undefined)
    return { first, last: rangeEnd({ shape, first, to, wraps, text }), step, open: false };
  if (by === undefined) return { first, last: first, step, open: false };
  if (wraps) return { first, last: shape.max, step, open: true };
  throw unfit({ ...shape, also: `a step after a range or "*", as in ${first}-${shape.max}/${by}` }, text);
}

function rangeEnd(range: {
  readonly shape: FieldShape;
  readonly first: number;
  readonly to: string;
  readonly wraps: boolean;
  readonly text: string;
}): number {
  const { shape, first, to, wraps, text } = range;
  const last = valueOf(shape, to);
  if (last >= first) return last;
  // Sunday is the first day and the last one: FRI-SUN.
  if (shape.max === 7 && shape.min === 0 && last === 0) return 7;
  if (wraps) return last + shape.max - shape.min + 1;
  throw unfit({ ...shape, also: "a range that goes up" }, text);
}

function numbersOf({ min, max }: FieldShape, { first, last, step }: Element): number[] {
  const numbers: number[] = [];
  for (let value = first; value <= last; value += step)
    numbers.push(value > max ? value - max + min - 1 : value);
  return numbers;
}

export function parseField(shape: FieldShape, rules: FieldRules, text: string): Field {
  const elements = text.split(",").map((each) => elementOf(shape, rules, each));
  const values = [...new Set(elements.flatMap((each) => numbersOf(shape, each)))].toSorted((a, b) => a - b);
  const all = values.length > shape.max - shape.min;
  return { values, rhythm: all || elements.some(({ open }) => open) };
}

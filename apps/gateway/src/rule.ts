// What a service's model says of one value beyond its type: its length or range, its form, its values. Each term has the
// words that AWS has for who breaks it.

export interface Rule {
  readonly min?: number;
  readonly max?: number;
  /** The whole text must match. */
  readonly pattern?: string;
  readonly oneOf?: readonly string[];
  /** The value is not repeated to who sent it. */
  readonly secret?: boolean;
}

export type Ruled = string | number | readonly unknown[];

export interface Term {
  readonly says: string;
  readonly holds: (value: Ruled) => boolean;
}

const sizeOf = (value: Ruled): number => (typeof value === "number" ? value : value.length);

function makePattern(pattern: string): Term {
  const whole = new RegExp(`^(?:${pattern})$`, "u");
  return {
    says: `Member must satisfy regular expression pattern: ${pattern}`,
    holds: (value) => whole.test(String(value)),
  };
}

/** `of` is what the bounds are of: the value of a number, the length of all else. */
export function termsOf({ min, max, pattern, oneOf }: Rule, of: "value" | "length"): readonly Term[] {
  const terms: Term[] = [];
  if (oneOf)
    terms.push({
      says: `Member must satisfy enum value set: [${oneOf.join(", ")}]`,
      holds: (value) => oneOf.includes(String(value)),
    });
  if (max !== undefined)
    terms.push({
      says: `Member must have ${of} less than or equal to ${max}`,
      holds: (value) => sizeOf(value) <= max,
    });
  if (min !== undefined)
    terms.push({
      says: `Member must have ${of} greater than or equal to ${min}`,
      holds: (value) => sizeOf(value) >= min,
    });
  if (pattern !== undefined) terms.push(makePattern(pattern));
  return terms;
}

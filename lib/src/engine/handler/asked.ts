// What a handler asks of `ctx.tx`, in the shapes in which a `pg` client is asked, as a statement that can share a round
// trip with others.
import type { QueryConfig } from "pg";
import type { BurstStatement, RowShape } from "../../pg/burst.ts";
import type { Names } from "../../pg/names.ts";
import { inspect } from "./control.ts";

export const textOf = (asked: unknown): string | undefined => {
  const text = typeof asked === "string" ? asked : (asked as { text?: unknown } | null)?.text;
  return typeof text === "string" ? text : undefined;
};

const known = new Set(["text", "values", "name", "rowMode", "types"]);
const isPlain = (asked: object): boolean => Object.keys(asked).every((key) => known.has(key));

/** Undefined where only the driver knows what to do: several statements in one text, a callback, a stream. */
export function asStatement(asked: unknown, values: unknown, names: Names): BurstStatement | undefined {
  const text = textOf(asked);
  if (text === undefined) return undefined;
  const config = typeof asked === "string" ? undefined : (asked as QueryConfig & RowShape);
  const given = values ?? config?.values;
  if ((config && !isPlain(config)) || (given !== undefined && !Array.isArray(given))) return undefined;
  const hasValues = given !== undefined && given.length > 0;
  if (!hasValues && inspect(text).several) return undefined;
  return {
    name: config?.name ?? (hasValues ? names.of(text) : undefined),
    text,
    values: given,
    rows: { rowMode: config?.rowMode, types: config?.types },
  };
}

/**
 * As the driver is to be asked itself: by no name, since it does not know what a burst that failed has left prepared
 * under one.
 */
export function forDriver(asked: unknown): unknown {
  const { name, submit } = (asked ?? {}) as { name?: unknown; submit?: unknown };
  return name === undefined || submit !== undefined ? asked : { ...(asked as object), name: undefined };
}

// How a wrong declaration of a service is said.
import { wrongTime as wrongSpan, type Finding } from "../engine/findings.ts";

/** What a declaration looks like before anybody has checked it. */
export type Given<T> = { readonly [K in keyof T]?: unknown } | null | undefined;

export const isWhole = (value: unknown, min: number, max: number): value is number =>
  Number.isInteger(value) && (value as number) >= min && (value as number) <= max;

export const wrongTime = (field: string, value: unknown, bounds: readonly [number, number]): Finding =>
  wrongSpan(field, value, bounds, "30s");

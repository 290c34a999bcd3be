// What is checked of every input: what the service's model says of each member, and that texts can be kept; pages, tokens, times.
import { isStorable } from "tuntas/queue";
import type { Asker } from "tuntas/schedule";
import { validate } from "../constraints.ts";
import type { Structure } from "../shape.ts";
import type { Call } from "../wire.ts";
import { invalid } from "./errors.ts";

type Given = Readonly<Record<string, unknown>>;

/** Every text of the input with the member that it is of. */
function* texts(value: unknown, member: string): Generator<readonly [member: string, text: string]> {
  if (typeof value === "string") yield [member, value];
  else if (typeof value === "object" && value !== null)
    for (const [key, each] of Object.entries(value)) yield* texts(each, Array.isArray(value) ? member : key);
}

/** Errors: ValidationException, which names all that is wrong. */
export function checkMembers(shape: Structure, input: Given): void {
  const wrong = validate(shape, input);
  if (wrong !== undefined) throw invalid(wrong);
  for (const [member, text] of texts(input, ""))
    if (!isStorable(text)) throw invalid(`The value at '${member}' has a character that no text can hold.`);
}

/** Who asks, and what makes the request the same request. */
export const askerOf = (
  { scope }: Call,
  { ClientToken }: { readonly ClientToken?: string | undefined },
): Asker => ({ by: scope.account, token: ClientToken });

/** Times travel as seconds. */
export const seconds = (ms: number): number => Math.round(ms) / 1000;

const pageDefault = 100;

/** A token says after which names the next page begins. */
export const tokenOf = (after: readonly string[]): string =>
  Buffer.from(JSON.stringify(after)).toString("base64url");

const isTexts = (value: unknown, count: number): value is string[] =>
  Array.isArray(value) &&
  value.length === count &&
  value.every((each) => typeof each === "string" && isStorable(each));

/** Errors: ValidationException. */
export function readToken(token: string | undefined, count: number): string[] | undefined {
  if (token === undefined) return undefined;
  try {
    const after: unknown = JSON.parse(Buffer.from(token, "base64url").toString());
    if (isTexts(after, count)) return after;
  } catch {
    // Said below.
  }
  throw invalid("The NextToken is not one that this service gave.");
}

/** The page, and the token of the next where there is more: whoever reads asks for one more than the page has. */
export function cut<T>(items: readonly T[], size: number, after: (item: T) => readonly string[]) {
  const page = items.slice(0, size);
  return { page, ...(items.length > size ? { NextToken: tokenOf(after(page.at(-1)!)) } : {}) };
}

export const sizeOf = ({ MaxResults = pageDefault }: { readonly MaxResults?: number | undefined }): number =>
  MaxResults;

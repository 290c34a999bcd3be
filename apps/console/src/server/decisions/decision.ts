// What the home page asks of each part of the system: what of yours needs a person?
import type { Decision } from "../../api/index.ts";
import type { Needs } from "../needs.ts";

export interface Look {
  /** What is looked at, as the page says it when nothing was found. */
  readonly name: string;
  readonly find: (needs: Needs) => Promise<readonly Decision[]>;
}

/** The address of a page, with its selection. */
export function pageAt(
  path: string,
  query: Readonly<Record<string, string | null | undefined>> = {},
): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value ? [[name, value] as [string, string]] : [],
  );
  const search = new URLSearchParams(given).toString();
  return search === "" ? path : `${path}?${search}`;
}

export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

import type { QueryOf, ReadName } from "../../api/index.ts";
import { useUrl } from "./url.ts";

/** What the address says of these fields of a read's query. A value that does not fit is refused by the server, by name. */
export function useQueryOf<N extends ReadName>(
  _read: N,
  fields: readonly (keyof QueryOf<N> & string)[],
): QueryOf<N> {
  const url = useUrl();
  const given = fields.flatMap((name) => {
    const value = url.get(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(given) as QueryOf<N>;
}

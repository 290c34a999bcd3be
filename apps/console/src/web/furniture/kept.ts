import { useRef } from "react";

/**
 * What is selected, also once it has left the list: an act may take it away, and its outcome is still to be read.
 * Undefined where the key is, or where it was never in the list.
 */
export function useKept<T>(key: string | undefined, found: T | undefined): T | undefined {
  const last = useRef<{ readonly key: string; readonly item: T }>(undefined);
  if (key !== undefined && found !== undefined) last.current = { key, item: found };
  return key === undefined || last.current?.key !== key ? undefined : last.current.item;
}

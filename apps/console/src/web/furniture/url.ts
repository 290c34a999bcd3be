// The address holds every filter and selection, so that a link shows what its sender saw.
import { useCallback } from "react";
import { useSearchParams } from "wouter";

type Change = Readonly<Record<string, string | undefined>>;

export interface UrlState {
  get(name: string): string | undefined;
  /** Changes some; undefined and empty take one away. Filters replace the address, selections add to the history. */
  set(change: Change, how?: "replace" | "push"): void;
}

export function useUrl(): UrlState {
  const [params, setParams] = useSearchParams();
  const set = useCallback(
    (change: Change, how: "replace" | "push" = "replace") =>
      setParams(
        (before) => {
          const after = new URLSearchParams(before);
          for (const [name, value] of Object.entries(change)) {
            if (value === undefined || value === "") after.delete(name);
            else after.set(name, value);
          }
          return after;
        },
        { replace: how === "replace" },
      ),
    [setParams],
  );
  return { get: (name) => params.get(name) ?? undefined, set };
}

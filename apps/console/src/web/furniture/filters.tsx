// The one filter bar. What it holds is in the address; `/` goes to its first field.
import { useEffect, useRef, useState, type ReactNode } from "react";
import { useKeys } from "./keys.ts";
import { useUrl } from "./url.ts";

export type Filter =
  | { readonly kind: "search"; readonly name: string; readonly label: string }
  | {
      readonly kind: "choice";
      readonly name: string;
      readonly label: string;
      /** Value to text; the first stands for "all" where its value is empty. */
      readonly choices: readonly (readonly [value: string, text: string])[];
    };

const settleMs = 250;

/** Typing settles for a moment before the address, and with it the server, hears of it. */
function Search({ name, label }: { readonly name: string; readonly label: string }) {
  const url = useUrl();
  const given = url.get(name) ?? "";
  const [text, setText] = useState(given);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => setText(given), [given]);
  useEffect(() => {
    if (text === given) return undefined;
    const timer = setTimeout(() => url.set({ [name]: text.trim() }), settleMs);
    return () => clearTimeout(timer);
    // Only typing starts the wait.
  }, [text]);
  useKeys({ "/": () => field.current?.focus() });
  return (
    <input
      ref={field}
      className="input"
      type="search"
      placeholder={label}
      aria-label={label}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.preventDefault(); // a browser would empty the field
        field.current?.blur();
      }}
    />
  );
}

function Choice({ filter }: { readonly filter: Extract<Filter, { kind: "choice" }> }) {
  const url = useUrl();
  return (
    <select
      className="input"
      aria-label={filter.label}
      value={url.get(filter.name) ?? ""}
      onChange={(event) => url.set({ [filter.name]: event.target.value })}
    >
      {filter.choices.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  );
}

export interface FiltersProps {
  readonly filters: readonly Filter[];
  /** What the filters leave, in words. */
  readonly tally?: ReactNode;
}

export function Filters({ filters, tally }: FiltersProps) {
  return (
    <div className="filters" role="search">
      {filters.map((filter) =>
        filter.kind === "search" ? (
          <Search key={filter.name} name={filter.name} label={filter.label} />
        ) : (
          <Choice key={filter.name} filter={filter} />
        ),
      )}
      {tally !== undefined && <span className="tally number">{tally}</span>}
    </div>
  );
}

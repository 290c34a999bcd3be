import type { ReactNode } from "react";
import type { Tone } from "./badge.tsx";

export interface Figure {
  readonly name: string;
  readonly value: ReactNode;
  readonly note?: ReactNode;
  /** Only where a limit that somebody set is broken. */
  readonly tone?: Extract<Tone, "warn" | "danger"> | undefined;
}

/** A strip of numbers in a fixed order. */
export function Figures({ figures, label }: { readonly figures: readonly Figure[]; readonly label: string }) {
  return (
    <dl className="figures" aria-label={label}>
      {figures.map(({ name, value, note, tone }) => (
        <div key={name} data-tone={tone}>
          <dt>{name}</dt>
          <dd>
            {value}
            {note !== undefined && <small className="note">{note}</small>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

import type { ReactNode } from "react";
import type { Tone } from "./badge.tsx";

export interface Figure {
  readonly name: string;
  readonly value: ReactNode;
  readonly note?: ReactNode;
  /** Only where a limit that somebody set is broken. */
  readonly tone?: Extract<Tone, "warn" | "danger"> | undefined;
}

export interface FiguresProps {
  readonly figures: readonly Figure[];
  readonly label: string;
  /** In one line, where they are not what the page is about. */
  readonly compact?: boolean;
}

/** A strip of numbers in a fixed order. */
export function Figures({ figures, label, compact = false }: FiguresProps) {
  return (
    <dl className="figures" aria-label={label} data-compact={compact}>
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

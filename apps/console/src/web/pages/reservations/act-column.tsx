import type { Column } from "../../furniture/table.tsx";

export interface RowAct<T> {
  /** What the button says. */
  readonly verb: string;
  readonly width: string;
  readonly may: boolean;
  /** Which rows have the button. */
  readonly applies: (row: T) => boolean;
  /** Said after the verb to those who cannot see the row. */
  readonly nameOf: (row: T) => string;
  readonly onAsk: (row: T) => void;
}

/** The last column: one act upon the row. */
export const actColumn = <T,>({ verb, width, may, applies, nameOf, onAsk }: RowAct<T>): Column<T> => ({
  key: "act",
  head: "",
  width,
  cell: (row) =>
    applies(row) && (
      <button type="button" className="button" data-size="small" disabled={!may} onClick={() => onAsk(row)}>
        {verb}
        <span className="hidden-text"> {nameOf(row)}</span>
      </button>
    ),
});

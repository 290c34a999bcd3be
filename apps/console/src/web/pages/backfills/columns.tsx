// What lists say of a run.
import type { ReactNode } from "react";
import type { RunReport } from "../../../api/index.ts";
import { Count } from "../../furniture/count.tsx";
import { Progress } from "../../furniture/progress.tsx";
import type { Column } from "../../furniture/table.tsx";
import { RunBadge, waitsFor } from "./badges.tsx";

const nothing = <span className="zero">–</span>;

type Cell = Omit<Column<RunReport>, "key"> & { readonly cell: (run: RunReport) => ReactNode };

const cells = {
  state: { head: "State", width: "9.25rem", cell: (run) => <RunBadge run={run} /> },
  progress: {
    head: "Progress",
    width: "14rem",
    cell: ({ id, read, records }) =>
      records === 0 ? nothing : <Progress of={`run ${id}`} done={Math.min(read, records)} total={records} />,
  },
  waits: {
    head: "Waits for",
    wideOnly: true,
    cell: (run) => {
      const text = waitsFor(run);
      return text === undefined ? nothing : <span title={text}>{text}</span>;
    },
  },
  failed: {
    head: "Failed",
    width: "5.25rem",
    align: "right",
    wideOnly: true,
    cell: ({ failed }) => <Count value={failed} />,
  },
} as const satisfies Readonly<Record<string, Cell>>;

/** These columns, of the run that a row has; a row may have none. */
export const runColumns = <T,>(
  names: readonly (keyof typeof cells)[],
  runOf: (row: T) => RunReport | null,
): readonly Column<T>[] =>
  names.map((key) => {
    const { cell, ...column }: Cell = cells[key];
    return {
      ...column,
      key,
      cell: (row) => {
        const run = runOf(row);
        return run === null ? nothing : cell(run);
      },
    };
  });

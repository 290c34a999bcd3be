// The one table: sticky head, rows drawn only where one looks, a next page read when its end comes near, and arrows or
// j and k to walk along it.
import { useEffect, useRef, type KeyboardEvent, type MouseEvent, type ReactNode } from "react";
import { useVirtualizer } from "@tanstack/react-virtual";

export interface Column<T> {
  readonly key: string;
  readonly head: string;
  readonly cell: (row: T) => ReactNode;
  /** A CSS width; what is left over is shared by the columns without one. */
  readonly width?: string;
  readonly align?: "right";
  /** Left out on a phone. */
  readonly wideOnly?: boolean;
  /** Left out where the table has no room for it beside what tells its rows apart. */
  readonly roomOnly?: boolean;
}

export interface TableProps<T> {
  /** What the rows are, for those who cannot see them. */
  readonly label: string;
  readonly rows: readonly T[];
  readonly columns: readonly Column<T>[];
  readonly keyOf: (row: T) => string;
  readonly onOpen?: (row: T) => void;
  readonly selected?: string | undefined;
  readonly onEnd?: (() => void) | undefined;
  readonly tall?: boolean;
}

const rowPx = 41;
const classOf = <T,>({ align, wideOnly, roomOnly }: Column<T>): string =>
  [align, wideOnly && "wide-only", roomOnly && "room-only"].filter(Boolean).join(" ");

/** What is cut off is read by resting on it. */
function tellWhole({ currentTarget: cell }: MouseEvent<HTMLElement>): void {
  cell.title = cell.scrollWidth > cell.clientWidth ? (cell.textContent ?? "") : "";
}

function Head<T>({ columns }: { readonly columns: readonly Column<T>[] }) {
  return (
    <>
      <colgroup>
        {columns.map((column) => (
          <col
            key={column.key}
            className={classOf(column)}
            style={column.width ? { width: column.width } : {}}
          />
        ))}
      </colgroup>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.key} scope="col" className={classOf(column)}>
              {column.head || <span className="hidden-text">Act</span>}
            </th>
          ))}
        </tr>
      </thead>
    </>
  );
}

const steps: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  j: 1,
  ArrowUp: -1,
  k: -1,
  PageDown: 10,
  PageUp: -10,
};

/** The row to go to by this key, from the row that has the focus; undefined where the key says nothing. */
function rowAfter(key: string, from: number, count: number): number | undefined {
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  const step = steps[key];
  return step === undefined ? undefined : Math.max(0, Math.min(count - 1, from + step));
}

function useWalking(count: number, scrollTo: (index: number) => void) {
  const frame = useRef<HTMLDivElement>(null);
  const focusRow = (index: number, tries = 5): void => {
    const row = frame.current?.querySelector<HTMLElement>(`tr[data-index="${index}"]`);
    if (row) row.focus({ preventScroll: false });
    else if (tries > 0) requestAnimationFrame(() => focusRow(index, tries - 1));
  };
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || count === 0) return;
    const at = Number((event.target as HTMLElement).closest("tr")?.dataset.index ?? -1);
    const next = rowAfter(event.key, at, count);
    if (next === undefined) return;
    event.preventDefault();
    scrollTo(next);
    focusRow(next);
  };
  return { frame, onKeyDown };
}

function Row<T>({
  row,
  index,
  props,
}: {
  readonly row: T;
  readonly index: number;
  readonly props: TableProps<T>;
}) {
  const { columns, keyOf, onOpen, selected } = props;
  const opens = onOpen && {
    "data-opens": true,
    onClick: (event: { target: EventTarget }) => {
      if (!(event.target as HTMLElement).closest("a, button, input")) onOpen(row);
    },
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key === "Enter" && event.target === event.currentTarget) onOpen(row);
    },
  };
  return (
    <tr
      data-index={index}
      data-key={keyOf(row)}
      tabIndex={-1}
      aria-rowindex={index + 2}
      aria-current={selected !== undefined && keyOf(row) === selected ? "true" : undefined}
      {...opens}
    >
      {columns.map((column) => (
        <td key={column.key} className={classOf(column)} onMouseEnter={tellWhole}>
          {column.cell(row)}
        </td>
      ))}
    </tr>
  );
}

const Spacer = ({ px, span }: { readonly px: number; readonly span: number }) =>
  px > 0 ? (
    <tr aria-hidden="true">
      <td className="spacer" colSpan={span} style={{ height: px }} />
    </tr>
  ) : null;

export function Table<T>(props: TableProps<T>) {
  const { label, rows, columns, keyOf, onEnd, tall } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    overscan: 12,
    getItemKey: (index) => keyOf(rows[index]!),
    initialRect: { width: 1000, height: 800 },
  });
  const { frame, onKeyDown } = useWalking(rows.length, (index) => virtual.scrollToIndex(index));
  const drawn = virtual.getVirtualItems();
  const last = drawn.at(-1)?.index ?? 0;
  useEffect(() => {
    if (onEnd && rows.length > 0 && last >= rows.length - 20) onEnd();
  }, [last, rows.length, onEnd]);
  const above = drawn[0]?.start ?? 0;
  const below = virtual.getTotalSize() - (drawn.at(-1)?.end ?? 0);
  return (
    <div
      className="table-frame"
      data-tall={tall}
      role="group"
      aria-label={label}
      tabIndex={0}
      onKeyDown={onKeyDown}
      ref={(element) => {
        scroller.current = element;
        frame.current = element;
      }}
    >
      <table className="table" aria-label={label} aria-rowcount={rows.length + 1}>
        <Head columns={columns} />
        <tbody>
          <Spacer px={above} span={columns.length} />
          {drawn.map(({ index, key }) => (
            <Row key={String(key)} row={rows[index]!} index={index} props={props} />
          ))}
          <Spacer px={below} span={columns.length} />
        </tbody>
      </table>
    </div>
  );
}

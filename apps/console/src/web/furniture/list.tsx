// A list in its frame: what narrows it, how much is left, its rows, and what it says where nothing is. Whatever is read as
// a list is shown by this.
import type { ReactNode } from "react";
import type { Listed } from "../api/hooks.ts";
import { countText } from "./count.tsx";
import { Filters, type Filter } from "./filters.tsx";
import { Empty, Failure } from "./notice.tsx";
import { Table, type TableProps } from "./table.tsx";

export interface ListProps<T> extends Omit<TableProps<T>, "rows" | "onEnd"> {
  readonly list: Listed<T>;
  readonly filters?: readonly Filter[];
  /** What is counted: one of them, and many. */
  readonly nouns?: readonly [one: string, many: string];
  /** Said in the place of the count. */
  readonly tally?: ReactNode;
  /** That nothing is there, and what that means. */
  readonly empty: readonly [title: string, text?: ReactNode];
}

function tallyOf<T>({ items, hasMore }: Listed<T>, [one, many]: readonly [string, string]): string {
  return `${countText(items.length)}${hasMore ? "+" : ""} ${items.length === 1 && !hasMore ? one : many}`;
}

function Rows<T>({ list, empty, ...table }: Omit<ListProps<T>, "filters" | "nouns" | "tally">) {
  const { items, isRead, error, onEnd } = list;
  const [title, text] = empty;
  if (error && !isRead) return <Failure error={error} />;
  if (isRead && items.length === 0) return <Empty title={title}>{text}</Empty>;
  return <Table {...table} rows={items} onEnd={onEnd} />;
}

export function List<T>({ filters, nouns, tally, ...rows }: ListProps<T>) {
  const counted = tally ?? (nouns && tallyOf(rows.list, nouns));
  return (
    <>
      {filters && <Filters filters={filters} tally={rows.list.isRead ? counted : undefined} />}
      <Rows {...rows} />
    </>
  );
}

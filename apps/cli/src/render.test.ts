import { stripVTControlCharacters } from "node:util";
import { afterEach, expect, test } from "vitest";
import { facts, instant, printable, table } from "./render.ts";

const { isTTY, columns } = process.stdout;
afterEach(() => void Object.assign(process.stdout, { isTTY, columns }));

const rows = [{ name: "order-work", body: `{"text":"two\nlines and \u001b[31mred"}${"x".repeat(200)}` }];
const draw = () => table(rows, { name: (row) => row.name, body: (row) => row.body, missing: () => null });

test("on a terminal a table fits its width, and the widest column gives way", () => {
  Object.assign(process.stdout, { isTTY: true, columns: 60 });
  const lines = stripVTControlCharacters(draw()).split("\n");
  expect(lines).toHaveLength(2);
  expect(lines.every((line) => line.length <= 60)).toBe(true);
  expect(lines[1]).toMatch(/^order-work {2}\{"text":"two lines.*… {2}-$/);
});

test("on a terminal too narrow for its columns, each record stands below the other, whole", () => {
  Object.assign(process.stdout, { isTTY: true, columns: 80 });
  const heads = ["queue", "cause", "first", "last", "owner", "runbook"];
  const columns = Object.fromEntries(heads.map((head) => [head, () => `${head} ${"x".repeat(20)}`]));
  const text = table([{}, {}], columns);
  expect(text.split("\n")).toHaveLength(2 * heads.length + 1);
  expect(text).toMatch(/^queue    queue x{20}\ncause /);
  expect(text).not.toContain("…");
});

test("on a pipe nothing is cut or coloured, and a body cannot break its line or write to the terminal", () => {
  Object.assign(process.stdout, { isTTY: false });
  const text = draw();
  expect(text).toContain("x".repeat(200));
  expect(text).not.toContain("\u001b");
  expect(text.split("\n")).toHaveLength(2);
  expect(facts({ a: 1, decidedBy: "x", none: null, empty: "", never: instant(null) })).toBe(
    "a           1\ndecided by  x",
  );
  expect(table([], {})).toBe("(none)");
});

test("a body keeps its lines but cannot steer a terminal", () => {
  const body = "two\nlines\u001b[2J";
  Object.assign(process.stdout, { isTTY: true });
  expect(printable(body)).toBe("two\nlines\uFFFD[2J");
  Object.assign(process.stdout, { isTTY: false });
  expect(printable(body)).toBe(body);
});

// eslint-disable-next-line no-restricted-imports -- a test reads its example from the disk
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { scopeOf } from "../graph/index.ts";
import { planOf, toSvg, type Placed } from "./index.ts";

const example = JSON.parse(
  readFileSync(
    new URL("../../../../examples/case-activation/case-activation.asl.json", import.meta.url),
    "utf8",
  ),
);
const task = { Type: "Task", Resource: "work" };
const nested = {
  StartAt: "All",
  States: {
    All: {
      Type: "Parallel",
      Branches: [
        { StartAt: "A", States: { A: { ...task, Next: "B" }, B: { ...task, End: true } } },
        { StartAt: "C", States: { C: { ...task, End: true } } },
      ],
      Next: "Each",
    },
    Each: {
      Type: "Map",
      ItemProcessor: { StartAt: "D", States: { D: { ...task, End: true } } },
      Next: "Back?",
    },
    "Back?": { Type: "Choice", Choices: [{ Condition: "{% $again %}", Next: "All" }], Default: "Over" },
    Over: { Type: "Succeed" },
  },
};

const overlap = (one: Placed, other: Placed): boolean =>
  one.x < other.x + other.width &&
  other.x < one.x + one.width &&
  one.y < other.y + other.height &&
  other.y < one.y + one.height;
const isWithin = (inner: Placed, outer: Placed): boolean =>
  inner.x >= outer.x &&
  inner.y >= outer.y &&
  inner.x + inner.width <= outer.x + outer.width &&
  inner.y + inner.height <= outer.y + outer.height;

test.each([
  ["nested", nested],
  ["case activation", example],
])(
  "boxes do not overlap but for those that hold others, and arrows go from box to box: %s",
  (_name, definition) => {
    const { boxes, arrows, width, height } = planOf(scopeOf(definition));
    for (const [index, one] of boxes.entries())
      for (const other of boxes.slice(index + 1)) {
        if (other.parent === one.box.name) expect(isWithin(other, one)).toBe(true);
        else if (other.parent === one.parent) expect(overlap(one, other)).toBe(false);
      }
    const at = new Map(boxes.map((placed) => [placed.box.name, placed]));
    for (const { arrow, points } of arrows) {
      for (const { x, y } of points) {
        expect(x).toBeGreaterThanOrEqual(0);
        expect(x).toBeLessThanOrEqual(width);
        expect(y).toBeLessThanOrEqual(height);
      }
      const [from, to] = [at.get(arrow.from), at.get(arrow.to)];
      if (from) expect([from.y, from.y + from.height]).toContainEqual(expect.closeTo(points[0]!.y, 3));
      if (to) expect([to.y, to.y + to.height]).toContainEqual(expect.closeTo(points.at(-1)!.y, 3));
    }
  },
);

test("P-48 a definition is an SVG file, complete in itself, light and dark", () => {
  const svg = toSvg(nested, "nested");
  expect(svg).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" width="\d+" height="\d+"/);
  expect(svg).toContain("@media (prefers-color-scheme:dark)");
  for (const name of ["All", "A", "B", "C", "Each", "D", "Back?", "Over"]) expect(svg).toContain(`>${name}<`);
  expect(svg).not.toMatch(/href|src=|url\((?!#)|NaN|undefined/);
});

test("names are text, whatever they hold", () => {
  const name = `</text><script>alert("1")</script>&`;
  const svg = toSvg({ StartAt: name, States: { [name]: { Type: "Pass", Comment: "a < b", End: true } } });
  expect(svg).not.toContain("<script");
  expect(svg).toContain("a &lt; b");
});

test("where many catches go to one state they are lines of their boxes, and one arrow", () => {
  const svg = toSvg(example, "case");
  const count = (text: string) => svg.split(text).length - 1;
  expect(count("CaseOver → CleanUp</text>")).toBeGreaterThan(5);
  expect(count('class="label caught"')).toBeLessThan(6);
});

// Where boxes and arrows stand. Each scope is laid out by itself, from the inside out: a Parallel or Map is as large as
// what it holds.
import { Graph, layout } from "@dagrejs/dagre";
import { factText, type Arrow, type Scope, type StateBox } from "../graph/index.ts";

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Placed extends Point {
  readonly box: StateBox;
  readonly width: number;
  readonly height: number;
  /** The Parallel or Map around it. */
  readonly parent: string | null;
}

export interface Routed {
  readonly arrow: Arrow;
  readonly points: readonly Point[];
  /** Where its label stands, if it has one. */
  readonly label: Point | null;
}

export interface Plan {
  readonly width: number;
  readonly height: number;
  /** Outer ones first. */
  readonly boxes: readonly Placed[];
  readonly arrows: readonly Routed[];
  /** Where the run begins and ends; only around the whole. */
  readonly start: Point | null;
  readonly end: Point | null;
}

const boxHeightPx = 58;
const widthMinPx = 168;
const widthMaxPx = 320;
const headPx = 46;
const padPx = 18;
const betweenPx = 22;
const dotPx = 26;

export const startName = "\u0000start";
export const endName = "\u0000end";

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Wide enough for its two lines, about: nobody can measure a text before it is shown. */
export function sizeOf({ name, spec }: StateBox): Size {
  const text = Math.max([...name].length * 8.6, [...factText(name, spec)].length * 6.4);
  return { width: Math.min(widthMaxPx, Math.max(widthMinPx, text + 70)), height: boxHeightPx };
}

interface Settings {
  readonly sizeOf: (box: StateBox) => Size;
  /** Around the whole there are a start and an end. */
  readonly isWhole: boolean;
}

const shift = <T extends Point>(point: T, { x, y }: Point): T => ({
  ...point,
  x: point.x + x,
  y: point.y + y,
});

const carried = ({ arrow, points, label }: Routed, by: Point): Routed => ({
  arrow,
  points: points.map((point) => shift(point, by)),
  label: label && shift(label, by),
});

const moved = (plan: Plan, by: Point, parent: string): Pick<Plan, "boxes" | "arrows"> => ({
  boxes: plan.boxes.map((box) => ({ ...shift(box, by), parent: box.parent ?? parent })),
  arrows: plan.arrows.map((routed) => carried(routed, by)),
});

interface Inside extends Pick<Plan, "boxes" | "arrows" | "width" | "height"> {}

/** What a Parallel or Map holds, side by side, below its head. */
function insideOf({ name, inside }: StateBox, size: Settings["sizeOf"]): Inside {
  const plans = inside.map((scope) => draw(scope, { sizeOf: size, isWhole: false }));
  const boxes: Placed[] = [];
  const arrows: Routed[] = [];
  let x = padPx;
  for (const plan of plans) {
    const placed = moved(plan, { x, y: headPx }, name);
    boxes.push(...placed.boxes);
    arrows.push(...placed.arrows);
    x += plan.width + betweenPx;
  }
  const height = headPx + Math.max(...plans.map((plan) => plan.height)) + padPx;
  return { boxes, arrows, width: x - betweenPx + padPx, height };
}

/** A Fail is an end of its own. */
const endsOf = ({ boxes }: Scope): string[] =>
  boxes.filter(({ spec }) => spec.End === true || spec.Type === "Succeed").map(({ name }) => name);

const plain = (from: string, to: string): Arrow => ({ from, to, kind: "next", label: null });

/** The arrows of a scope; around the whole, those from the start and to the end too. */
const arrowsOf = (scope: Scope, isWhole: boolean): readonly Arrow[] =>
  isWhole
    ? [plain(startName, scope.startAt), ...scope.arrows, ...endsOf(scope).map((name) => plain(name, endName))]
    : scope.arrows;

/** How much is to be said for a straight arrow: the way that all goes well stands out as a line. */
const weights = { next: 8, choice: 4, default: 3, catch: 1 } as const;

/** Where everything of the machine stands, with boxes as large as is said. */
export const planOf = (scope: Scope, size: Settings["sizeOf"] = sizeOf): Plan =>
  draw(scope, { sizeOf: size, isWhole: true });

function draw(scope: Scope, { sizeOf: size, isWhole }: Settings): Plan {
  const graph = new Graph({ multigraph: false });
  graph.setGraph({ rankdir: "TB", nodesep: 34, ranksep: 44, edgesep: 18, marginx: 4, marginy: 4 });
  const insides = new Map(
    scope.boxes.filter(({ inside }) => inside.length > 0).map((box) => [box.name, insideOf(box, size)]),
  );
  for (const box of scope.boxes) {
    const inside = insides.get(box.name);
    const own = size(box);
    const { width, height } = inside ?? own;
    graph.setNode(box.name, { width: Math.max(width, own.width), height });
  }
  if (isWhole) for (const name of [startName, endName]) graph.setNode(name, { width: dotPx, height: dotPx });
  const arrows = arrowsOf(scope, isWhole);
  for (const { from, to, label, kind } of arrows)
    graph.setEdge(from, to, {
      weight: weights[kind],
      ...(label ? { width: label.length * 6.2 + 14, height: 20, labelpos: "c" } : {}),
    });
  layout(graph);
  return collect(graph, { scope, arrows, insides, isWhole });
}

interface Parts {
  readonly scope: Scope;
  readonly arrows: readonly Arrow[];
  readonly insides: ReadonlyMap<string, Inside>;
  readonly isWhole: boolean;
}

const radiusPx = 22;

/** The point on the way from one to the other that is so far from the first, and not past the middle. */
function toward(from: Point, to: Point, distance: number): Point {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const part = Math.min(distance / length, 0.5);
  return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
}

const text = ({ x, y }: Point): string => `${Math.round(x * 10) / 10},${Math.round(y * 10) / 10}`;

/** A line through the points with round corners, as SVG has it. */
export function pathOf(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (!first || rest.length === 0) return "";
  const corners = rest.slice(0, -1).map((corner, index) => {
    const [before, after] = [points[index]!, rest[index + 1]!];
    return `L${text(toward(corner, before, radiusPx))} Q${text(corner)} ${text(toward(corner, after, radiusPx))}`;
  });
  return [`M${text(first)}`, ...corners, `L${text(rest.at(-1)!)}`].join(" ");
}

interface Area extends Point {
  readonly width: number;
  readonly height: number;
}

/** Where an arrow leaves or meets a box: at its lower or upper side, as near to the other point as the side allows. */
function dock({ x, y, width, height }: Area, other: Point): Point {
  const reach = Math.max(width / 2 - 24, 0);
  const side = other.y >= y ? height / 2 : -height / 2;
  return { x: Math.min(Math.max(other.x, x - reach), x + reach), y: y + side };
}

/** dagre's way lets arrows begin anywhere at a box; here they go from above to below. */
function docked(points: readonly Point[], from: Area, to: Area): Point[] {
  const between = points.slice(1, -1);
  return [dock(from, between[0] ?? to), ...between, dock(to, between.at(-1) ?? from)];
}

/** dagre says where centres are; boxes are placed by their corners. */
function collect(graph: Graph, { scope, arrows, insides, isWhole }: Parts): Plan {
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  const node = (name: string) => graph.node(name) as Area;
  const boxes: Placed[] = [];
  const routed = arrows.map((arrow): Routed => {
    const { points, x, y } = graph.edge(arrow.from, arrow.to) as { points: Point[] } & Partial<Point>;
    const way = arrow.from === arrow.to ? points : docked(points, node(arrow.from), node(arrow.to));
    return { arrow, points: way, label: x === undefined || y === undefined ? null : { x, y } };
  });
  for (const box of scope.boxes) {
    const at = node(box.name);
    const corner = { x: at.x - at.width / 2, y: at.y - at.height / 2 };
    boxes.push({ box, ...corner, width: at.width, height: at.height, parent: null });
    const inside = insides.get(box.name);
    if (!inside) continue;
    boxes.push(...inside.boxes.map((inner) => shift(inner, corner)));
    routed.push(...inside.arrows.map((inner) => carried(inner, corner)));
  }
  const dot = (name: string): Point | null => (isWhole ? { x: node(name).x, y: node(name).y } : null);
  return { width, height, boxes, arrows: routed, start: dot(startName), end: dot(endName) };
}

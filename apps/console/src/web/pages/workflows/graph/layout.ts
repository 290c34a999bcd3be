// Where boxes and arrows stand. Each scope is laid out by itself, from the inside out: a Parallel or Map is as large as
// what it holds.
import { Graph, layout } from "@dagrejs/dagre";
import type { Arrow, Scope, StateBox } from "./model.ts";

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

export const boxSize = { width: 208, height: 58 } as const;
const headPx = 46;
const padPx = 18;
const betweenPx = 22;
const dotPx = 26;

export const startName = "\u0000start";
export const endName = "\u0000end";

const shift = <T extends Point>(point: T, { x, y }: Point): T => ({
  ...point,
  x: point.x + x,
  y: point.y + y,
});

const moved = (plan: Plan, by: Point, parent: string): Pick<Plan, "boxes" | "arrows"> => ({
  boxes: plan.boxes.map((box) => ({ ...shift(box, by), parent: box.parent ?? parent })),
  arrows: plan.arrows.map(({ arrow, points }) => ({
    arrow,
    points: points.map((point) => shift(point, by)),
  })),
});

interface Inside extends Pick<Plan, "boxes" | "arrows" | "width" | "height"> {}

/** What a Parallel or Map holds, side by side, below its head. */
function insideOf({ name, inside }: StateBox): Inside {
  const plans = inside.map((scope) => planOf(scope, false));
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

const endsOf = ({ boxes }: Scope): string[] =>
  boxes
    .filter(({ spec }) => spec.End === true || spec.Type === "Succeed" || spec.Type === "Fail")
    .map(({ name }) => name);

const plain = (from: string, to: string): Arrow => ({ from, to, kind: "next", label: null });

/** The arrows of a scope; around the whole, those from the start and to the end too. */
const arrowsOf = (scope: Scope, isWhole: boolean): readonly Arrow[] =>
  isWhole
    ? [plain(startName, scope.startAt), ...scope.arrows, ...endsOf(scope).map((name) => plain(name, endName))]
    : scope.arrows;

export function planOf(scope: Scope, isWhole = true): Plan {
  const graph = new Graph({ multigraph: false });
  graph.setGraph({ rankdir: "TB", nodesep: 34, ranksep: 44, edgesep: 18, marginx: 4, marginy: 4 });
  const insides = new Map(
    scope.boxes.filter(({ inside }) => inside.length > 0).map((box) => [box.name, insideOf(box)]),
  );
  for (const { name } of scope.boxes) {
    const { width, height } = insides.get(name) ?? boxSize;
    graph.setNode(name, { width, height });
  }
  if (isWhole) for (const name of [startName, endName]) graph.setNode(name, { width: dotPx, height: dotPx });
  const arrows = arrowsOf(scope, isWhole);
  for (const { from, to, label } of arrows)
    graph.setEdge(from, to, label ? { width: label.length * 6.2 + 14, height: 20, labelpos: "c" } : {});
  layout(graph);
  return collect(graph, { scope, arrows, insides, isWhole });
}

interface Parts {
  readonly scope: Scope;
  readonly arrows: readonly Arrow[];
  readonly insides: ReadonlyMap<string, Inside>;
  readonly isWhole: boolean;
}

/** dagre says where centres are; boxes are placed by their corners. */
function collect(graph: Graph, { scope, arrows, insides, isWhole }: Parts): Plan {
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  const node = (name: string) => graph.node(name) as Point & { width: number; height: number };
  const boxes: Placed[] = [];
  const routed: Routed[] = arrows.map((arrow) => ({
    arrow,
    points: (graph.edge(arrow.from, arrow.to) as { points: Point[] }).points,
  }));
  for (const box of scope.boxes) {
    const at = node(box.name);
    const corner = { x: at.x - at.width / 2, y: at.y - at.height / 2 };
    boxes.push({ box, ...corner, width: at.width, height: at.height, parent: null });
    const inside = insides.get(box.name);
    if (!inside) continue;
    boxes.push(...inside.boxes.map((inner) => shift(inner, corner)));
    routed.push(
      ...inside.arrows.map(({ arrow, points }) => ({
        arrow,
        points: points.map((point) => shift(point, corner)),
      })),
    );
  }
  const dot = (name: string): Point | null => (isWhole ? { x: node(name).x, y: node(name).y } : null);
  return { width, height, boxes, arrows: routed, start: dot(startName), end: dot(endName) };
}

// The machine as a picture, and what happened in a run of it: the path that was gone stands out, what was not taken steps
// back, and where it waits it says for what.
import { useMemo } from "react";
import { Background, Controls, MarkerType, ReactFlow } from "@xyflow/react";
import type { RunView } from "../../../../api/index.ts";
import { Empty } from "../../../furniture/notice.tsx";
import { endName, planOf, sizeOf, startName, type Placed, type Plan, type Size } from "tuntas/asl/drawing";
import { machineOf, type Scope, type StateBox } from "tuntas/asl/graph";
import { ArrowLine, Box, Dot, type ArrowEdge, type BoxNode, type DotNode } from "./nodes.tsx";
import { positionAt, progressIn, type Progress } from "./progress.ts";
import "./graph.css";

const nodeTypes = { box: Box, dot: Dot };
const edgeTypes = { arrow: ArrowLine };

export interface GraphProps {
  readonly definition: string;
  /** Left out where only the machine is to be seen. */
  readonly run?: RunView;
  readonly selected: string | undefined;
  readonly onSelect: (state: string) => void;
}

const waits: Readonly<Record<string, string>> = {
  timer: "until its time",
  retry: "to be retried",
  token: "for an answer",
  activity: "for a worker",
  handler: "for its handler",
  nested: "for the other run",
};

interface Drawing extends GraphProps {
  readonly plan: Plan;
  readonly progress: Progress | undefined;
}

function nodeOf(
  { box, x, y, width, height }: Placed,
  { progress, run, selected, onSelect }: Drawing,
): BoxNode {
  const { name, spec, inside } = box;
  const own = progress?.states.get(name);
  const position = run && positionAt(run.positions, name);
  return {
    id: name,
    type: "box",
    position: { x, y },
    width,
    height,
    zIndex: inside.length > 0 ? 0 : 2,
    data: {
      name,
      spec,
      isGroup: inside.length > 0,
      progress: own,
      note: position && waits[position.hold],
      isFaint: progress !== undefined && own === undefined,
      isSelected: selected === name,
      onSelect,
    },
  };
}

const dotNode = (id: string, text: string, at: { x: number; y: number }, isReached: boolean): DotNode => ({
  id,
  type: "dot",
  position: { x: at.x - 26, y: at.y - 13 },
  width: 52,
  height: 26,
  data: { text, isReached },
});

function dotsOf({ plan, progress }: Drawing): DotNode[] {
  const reached = (name: string): boolean =>
    progress === undefined || [...progress.taken].some((arrow) => arrow.split("\n").includes(name));
  return [
    ...(plan.start ? [dotNode(startName, "Start", plan.start, reached(startName))] : []),
    ...(plan.end ? [dotNode(endName, "End", plan.end, reached(endName))] : []),
  ];
}

const arrowsOf = ({ plan, progress }: Drawing): ArrowEdge[] =>
  plan.arrows.map(({ arrow, points, label }) => {
    const isTaken = progress?.taken.has(`${arrow.from}\n${arrow.to}`) ?? false;
    return {
      id: `${arrow.from}\n${arrow.to}`,
      source: arrow.from,
      target: arrow.to,
      type: "arrow",
      zIndex: 1,
      focusable: false,
      markerEnd: {
        type: MarkerType.ArrowClosed,
        color: isTaken ? "var(--accent)" : "var(--line-strong)",
        width: 14,
        height: 14,
      },
      data: { arrow, points, label, isTaken, isFaint: progress !== undefined && !isTaken },
    };
  });

const heightMaxPx = 1500;

/** With room for what became of it: outcome, attempts, how long it took. */
const roomy = (box: StateBox): Size => {
  const { width, height } = sizeOf(box);
  return { width: Math.max(width, 240), height };
};

function Drawn({ scope, ...props }: GraphProps & { readonly scope: Scope }) {
  const plan = useMemo(() => planOf(scope, roomy), [scope]);
  const { run } = props;
  const progress = useMemo(() => run && progressIn(run.visits, run.execution.status === "SUCCEEDED"), [run]);
  const drawing: Drawing = { ...props, plan, progress };
  return (
    <div className="graph" style={{ height: Math.min(Math.max(plan.height + 48, 340), heightMaxPx) }}>
      <ReactFlow<BoxNode | DotNode, ArrowEdge>
        nodes={[...plan.boxes.map((placed) => nodeOf(placed, drawing)), ...dotsOf(drawing)]}
        edges={arrowsOf(drawing)}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        zoomOnScroll={false}
        preventScrolling={false}
        minZoom={0.2}
        fitView
        fitViewOptions={{ maxZoom: 1, padding: 0.06 }}
        aria-label="The machine as a graph"
      >
        <Background gap={22} />
        <Controls showInteractive={false} />
      </ReactFlow>
    </div>
  );
}

export default function Graph(props: GraphProps) {
  const scope = useMemo(() => machineOf(props.definition), [props.definition]);
  if (!scope)
    return <Empty title="The definition is not to be drawn.">It is no machine that can be read.</Empty>;
  return <Drawn {...props} scope={scope} />;
}

// The boxes and arrows as they are drawn.
import {
  BaseEdge,
  EdgeLabelRenderer,
  Handle,
  Position as Side,
  type Edge,
  type EdgeProps,
  type Node,
  type NodeProps,
} from "@xyflow/react";
import { Badge } from "../../../furniture/badge.tsx";
import { spanText } from "../../../furniture/time.tsx";
import { outcomeTones } from "../tones.ts";
import { pathOf, type Point } from "tuntas/asl/drawing";
import { kindOf, type Arrow, type StateSpec } from "tuntas/asl/graph";
import type { StateProgress } from "./progress.ts";

export type BoxNode = Node<
  {
    readonly name: string;
    readonly spec: StateSpec;
    readonly isGroup: boolean;
    readonly progress: StateProgress | undefined;
    /** Why it waits, in a few words. */
    readonly note: string | undefined;
    readonly isFaint: boolean;
    readonly isSelected: boolean;
    readonly onSelect: (state: string) => void;
  },
  "box"
>;

export type DotNode = Node<{ readonly text: string; readonly isReached: boolean }, "dot">;

export type ArrowEdge = Edge<
  {
    readonly arrow: Arrow;
    readonly points: readonly Point[];
    readonly label: Point | null;
    readonly isTaken: boolean;
    readonly isFaint: boolean;
  },
  "arrow"
>;

const Ends = () => (
  <>
    <Handle type="target" position={Side.Top} isConnectable={false} />
    <Handle type="source" position={Side.Bottom} isConnectable={false} />
  </>
);

/** In the head of a group there is room for the shape alone, where all is well. */
function Counts({ progress, isGroup }: { readonly progress: StateProgress; readonly isGroup: boolean }) {
  const { outcome, visits, attempts, durationMs, counts } = progress;
  const facts = [
    visits > 1 && `${counts[outcome]} of ${visits}`,
    attempts > 1 && `${attempts} attempts`,
    durationMs !== null && durationMs >= 1 && spanText(durationMs),
  ].filter(Boolean);
  return (
    <>
      <Badge tone={outcomeTones[outcome]}>
        {isGroup && outcome === "succeeded" ? <span className="hidden-text">{outcome}</span> : outcome}
      </Badge>
      {facts.length > 0 && <span className="number">{facts.join(" · ")}</span>}
    </>
  );
}

export function Box({ data }: NodeProps<BoxNode>) {
  const { name, spec, isGroup, progress, note, isFaint, isSelected, onSelect } = data;
  return (
    <div
      className="state-box"
      data-group={isGroup}
      data-faint={isFaint}
      data-selected={isSelected}
      data-tone={progress && outcomeTones[progress.outcome]}
    >
      <Ends />
      <button type="button" className="nodrag nopan" aria-pressed={isSelected} onClick={() => onSelect(name)}>
        <strong>{name}</strong>
        <span className="state-facts">
          {progress ? <Counts progress={progress} isGroup={isGroup} /> : <span>{kindOf(spec)}</span>}
          {note !== undefined && <span className="state-note">{note}</span>}
        </span>
      </button>
    </div>
  );
}

export function Dot({ data }: NodeProps<DotNode>) {
  return (
    <div className="state-dot" data-reached={data.isReached}>
      <Ends />
      {data.text}
    </div>
  );
}

export function ArrowLine({ id, data, markerEnd }: EdgeProps<ArrowEdge>) {
  const { arrow, points, label: at, isTaken, isFaint } = data!;
  return (
    <>
      <BaseEdge
        id={id}
        path={pathOf(points)}
        className="state-arrow"
        data-taken={isTaken}
        data-kind={arrow.kind}
        data-faint={isFaint}
        {...(markerEnd !== undefined && { markerEnd })}
      />
      {arrow.label && at && (
        <EdgeLabelRenderer>
          <span
            className="arrow-label"
            data-taken={isTaken}
            data-kind={arrow.kind}
            style={{ transform: `translate(-50%, -50%) translate(${at.x}px, ${at.y}px)` }}
          >
            {arrow.label}
          </span>
        </EdgeLabelRenderer>
      )}
    </>
  );
}

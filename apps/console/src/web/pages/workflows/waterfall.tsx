// Every stay in a state on one time axis: what waited, what ran, what was tried again. Rows are drawn only where one looks.
import { useMemo, useRef, type CSSProperties } from "react";
import { useVirtualizer } from "@tanstack/react-virtual";
import type { RunView, Visit } from "../../../api/index.ts";
import { Badge } from "../../furniture/badge.tsx";
import { durationText, spanText } from "../../furniture/time.tsx";
import { machineOf, specOf } from "tuntas/asl/graph";
import { outcomeTones } from "./tones.ts";

type Kind = "queued" | "ran" | "failed" | "waits" | "backoff";

interface Segment {
  readonly kind: Kind;
  readonly fromMs: number;
  readonly toMs: number;
}

interface Line {
  readonly visit: Visit;
  readonly depth: number;
  readonly segments: readonly Segment[];
}

const rowPx = 32;

const legend: readonly (readonly [Kind, string])[] = [
  ["queued", "until somebody took it"],
  ["ran", "ran"],
  ["failed", "ran and failed"],
  ["waits", "waited for the clock, a person or others"],
  ["backoff", "waited to be tried again"],
];

/** What an attempt was made of: the time until it was taken, and what came then. */
function segmentsOfAttempts(
  { attempts, exitedAtMs }: Visit,
  waitsForAnswer: boolean,
  nowMs: number,
): Segment[] {
  return attempts.flatMap(({ scheduledAtMs, startedAtMs, endedAtMs, outcome }, index) => {
    const begun = startedAtMs ?? scheduledAtMs;
    const ended = endedAtMs ?? exitedAtMs ?? nowMs;
    const failed = outcome === "failed" || outcome === "timed out";
    const kind: Kind = failed ? "failed" : waitsForAnswer ? "waits" : "ran";
    const next = attempts[index + 1];
    return [
      ...(begun > scheduledAtMs ? [{ kind: "queued" as const, fromMs: scheduledAtMs, toMs: begun }] : []),
      { kind, fromMs: begun, toMs: ended },
      ...(next ? [{ kind: "backoff" as const, fromMs: ended, toMs: next.scheduledAtMs }] : []),
    ];
  });
}

function segmentsOf(visit: Visit, resource: string, nowMs: number): Segment[] {
  if (visit.attempts.length > 0) {
    const waitsForAnswer = resource.endsWith(".waitForTaskToken") || resource.endsWith(".sync:2");
    return segmentsOfAttempts(visit, waitsForAnswer, nowMs);
  }
  const kind: Kind = ["Wait", "Parallel", "Map"].includes(visit.type) ? "waits" : "ran";
  return [{ kind, fromMs: visit.enteredAtMs, toMs: visit.exitedAtMs ?? nowMs }];
}

/** What belongs to one item of a Map stays together. */
const byItem = (one: Visit, other: Visit): number => (one.item ?? 0) - (other.item ?? 0) || one.id - other.id;

/** Visits in their order, those inside another right below it. */
function linesOf({ visits, definition, nowMs, execution }: RunView): Line[] {
  const scope = machineOf(definition);
  const inside = Map.groupBy(visits, ({ parent }) => parent);
  const endMs = execution.stoppedAtMs ?? nowMs;
  const walk = (parent: number | null, depth: number): Line[] =>
    (inside.get(parent) ?? []).toSorted(byItem).flatMap((visit) => {
      const resource = (scope && specOf(scope, visit.state)?.Resource) ?? "";
      return [{ visit, depth, segments: segmentsOf(visit, resource, endMs) }, ...walk(visit.id, depth + 1)];
    });
  return walk(null, 0);
}

interface Span {
  readonly fromMs: number;
  readonly lengthMs: number;
}

const share = (ms: number, { lengthMs }: Span): string => `${(ms / lengthMs) * 100}%`;

function Bar({ segments, span }: { readonly segments: readonly Segment[]; readonly span: Span }) {
  return (
    <span className="waterfall-track">
      {segments.map(({ kind, fromMs, toMs }, index) => (
        <i
          key={index}
          data-kind={kind}
          title={`${legend.find(([each]) => each === kind)![1]}: ${spanText(toMs - fromMs)}`}
          style={{ left: share(fromMs - span.fromMs, span), width: share(Math.max(0, toMs - fromMs), span) }}
        />
      ))}
    </span>
  );
}

const nameOf = ({ state, item }: Visit): string => (item === null ? state : `${state} [${item}]`);

function Row({
  line,
  span,
  selected,
  onSelect,
}: {
  line: Line;
  span: Span;
  selected: boolean;
  onSelect: () => void;
}) {
  const { visit, depth, segments } = line;
  const end = segments.at(-1)!.toMs;
  return (
    <button type="button" className="waterfall-row" aria-pressed={selected} onClick={onSelect}>
      <span className="waterfall-name" style={{ paddingLeft: `${depth * 1.125}rem` }}>
        <Badge tone={outcomeTones[visit.outcome]}>
          <span className="hidden-text">{visit.outcome}: </span>
        </Badge>
        <span className="waterfall-state">{nameOf(visit)}</span>
        {visit.attempts.length > 1 && <span className="muted number">×{visit.attempts.length}</span>}
      </span>
      <Bar segments={segments} span={span} />
      <span className="number right">{spanText(end - visit.enteredAtMs)}</span>
    </button>
  );
}

const ticksMax = 5;
const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500].concat(
  [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600, 86_400].map((seconds) => seconds * 1000),
);

/** A round step that divides the span into a few parts. */
const stepOf = ({ lengthMs }: Span): number =>
  steps.find((step) => lengthMs / step <= ticksMax) ??
  Math.ceil(lengthMs / ticksMax / 86_400_000) * 86_400_000;

function ticksOf(span: Span): number[] {
  const step = stepOf(span);
  return Array.from({ length: Math.floor(span.lengthMs / step) + 1 }, (_, index) => index * step);
}

function Axis({ span }: { readonly span: Span }) {
  return (
    <div className="waterfall-row" data-axis aria-hidden="true">
      <span />
      <span className="waterfall-track">
        {ticksOf(span).map((ms) => (
          <b key={ms} style={{ left: share(ms, span) }} data-late={ms > span.lengthMs * 0.9}>
            {ms === 0 ? "0" : durationText(ms)}
          </b>
        ))}
      </span>
      <span className="right">took</span>
    </div>
  );
}

const Legend = () => (
  <ul className="row waterfall-legend">
    {legend.map(([kind, text]) => (
      <li key={kind}>
        <i data-kind={kind} /> {text}
      </li>
    ))}
  </ul>
);

export interface WaterfallProps {
  readonly run: RunView;
  readonly selected: number | undefined;
  readonly onSelect: (visit: Visit) => void;
}

export default function Waterfall({ run, selected, onSelect }: WaterfallProps) {
  const lines = useMemo(() => linesOf(run), [run]);
  const frame = useRef<HTMLDivElement>(null);
  const { startedAtMs, stoppedAtMs } = run.execution;
  const span = { fromMs: startedAtMs, lengthMs: Math.max(1, (stoppedAtMs ?? run.nowMs) - startedAtMs) };
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => frame.current,
    estimateSize: () => rowPx,
    overscan: 10,
    initialRect: { width: 1000, height: 640 },
  });
  return (
    <section
      className="waterfall"
      aria-label="Waterfall"
      style={{ "--step": share(stepOf(span), span) } as CSSProperties}
    >
      <Legend />
      <Axis span={span} />
      <div className="waterfall-frame" ref={frame} tabIndex={0} role="group" aria-label="States over time">
        <div style={{ height: virtual.getTotalSize(), position: "relative" }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const line = lines[index]!;
            return (
              <div
                key={line.visit.id}
                className="waterfall-at"
                style={{ transform: `translateY(${start}px)` }}
              >
                <Row
                  line={line}
                  span={span}
                  selected={line.visit.id === selected}
                  onSelect={() => onSelect(line.visit)}
                />
              </div>
            );
          })}
        </div>
      </div>
      {run.cut && (
        <p className="muted">These are the first {run.visits.length} stays; the events tell of all.</p>
      )}
    </section>
  );
}

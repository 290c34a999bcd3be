import { Fragment, useState, type ReactNode } from "react";
import { Link } from "wouter";
import type { Occurrence, ScheduleView } from "../../../api/index.ts";
import { useMay } from "../../api/session.ts";
import { counted } from "../../furniture/count.tsx";
import { Panel } from "../../furniture/panel.tsx";
import { durationText, Instant } from "../../furniture/time.tsx";
import { OccurrenceBadge } from "./badges.tsx";
import { targetHref, targetText, workHref } from "./links.ts";
import { Run } from "./schedule-acts.tsx";
import { Zoned } from "./zoned.tsx";

interface PanelProps {
  readonly view: ScheduleView;
  readonly occurrence: Occurrence;
  readonly onClose: () => void;
}

function Work({ occurrence }: Pick<PanelProps, "occurrence">) {
  const { reference, target, state } = occurrence;
  const href = workHref(occurrence);
  if (reference === null) return <>none was begun</>;
  if (href !== undefined)
    return <Link href={href}>{target.kind === "workflow" ? reference : `message ${reference}`}</Link>;
  return (
    <>
      {target.kind === "queue" ? "message" : "announcement"} {reference}
      {state === "succeeded" && ", done and gone"}
    </>
  );
}

function factsOf({ view: { timeZone }, occurrence }: Omit<PanelProps, "onClose">) {
  const { dueMs, run, actor, reason, target, decidedAtMs, startedAtMs, endedAtMs } = occurrence;
  const facts: (readonly [string, ReactNode])[] = [
    ["Due", <Instant ms={dueMs} />],
    [
      "In its zone",
      <>
        <Zoned ms={dueMs} timeZone={timeZone} /> <span className="muted">{timeZone}</span>
      </>,
    ],
    [
      "Window",
      <>
        <Instant ms={occurrence.windowStartMs} /> to <Instant ms={occurrence.windowEndMs} />
      </>,
    ],
    ["Run by", actor === null ? "the clock" : `${actor}, run ${run} of this window`],
    ["Starts", <Link href={targetHref(target)}>{targetText(target)}</Link>],
    ["Work", <Work occurrence={occurrence} />],
  ];
  if (reason !== null) facts.push(["Why", reason]);
  if (startedAtMs === null) facts.push(["Decided", <Instant ms={decidedAtMs} />]);
  else
    facts.push([
      "Began",
      <>
        <Instant ms={startedAtMs} />
        {run === 0 && <span className="muted">, {durationText(startedAtMs - dueMs)} after it was due</span>}
      </>,
    ]);
  if (startedAtMs !== null && endedAtMs !== null)
    facts.push([
      "Ended",
      <>
        <Instant ms={endedAtMs} />
        <span className="muted">, after {durationText(endedAtMs - startedAtMs)}</span>
      </>,
    ]);
  if (occurrence.recordsWritten !== null) facts.push(["Wrote", counted(occurrence.recordsWritten, "record")]);
  return facts;
}

export function OccurrencePanel({ view, occurrence, onClose }: PanelProps) {
  const may = useMay()("schedule.change");
  const [running, setRunning] = useState(false);
  return (
    <Panel
      label="Occurrence"
      onClose={onClose}
      title={
        <>
          <h2>
            <Zoned ms={occurrence.dueMs} timeZone={view.timeZone} />
          </h2>
          <OccurrenceBadge state={occurrence.state} />
        </>
      }
    >
      <dl className="facts">
        {factsOf({ view, occurrence }).map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </Fragment>
        ))}
      </dl>
      <div className="row">
        <button type="button" className="button" disabled={!may} onClick={() => setRunning(true)}>
          Run its window again
        </button>
      </div>
      {running && <Run view={view} occurrence={occurrence} onClose={() => setRunning(false)} />}
    </Panel>
  );
}
